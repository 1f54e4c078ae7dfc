import { forEach } from './closed-loop.mjs';

const CONNECTING_AT_ONCE = 128;

/**
 * Opens one wait on each question, each on a connection of its own, a bounded number at a time. Resolves when all
 * connections are made, with `{id, user, response}` of each; `response` is a promise.
 */
export function parkWaits({ target, ids }) {
  return forEach({
    users: Array.from({ length: CONNECTING_AT_ONCE }),
    items: ids,
    act: async (_, id) => {
      const user = target.user();
      const { connected, response } = user.park(id);
      // Those that are cut at the end are nobody's failure; who awaits a response still sees its error.
      response.catch(() => {});
      await connected;
      return { id, user, response };
    },
  });
}

export function cutConnection({ user }) {
  return user.cut();
}
