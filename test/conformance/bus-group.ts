import { randomUUID } from 'node:crypto';
import { type BusHarness, Consumer, type Member, type MemberSettings } from './bus-harness.js';

/** Quick enough for tests, and bounded as in production. */
const QUICK = { attempts: 4, firstPauseMs: 5, longestPauseMs: 20 };

/** One group of consumers of the bus under test. */
export class Group {
  readonly name = `group-${randomUUID()}`;
  readonly #members: Member[] = [];

  constructor(readonly bus: BusHarness) {}

  consumer(effect?: ConstructorParameters<typeof Consumer>[1]): Consumer {
    return new Consumer(this.name, effect);
  }

  /** A member in which these consumers run; those that still do at the end of the test are stopped. */
  async join(
    consumers: readonly Pick<Consumer, 'controller'>[],
    retry: MemberSettings['retry'] = {},
  ): Promise<Member> {
    const controllers = consumers.map(({ controller }) => controller);
    const member = await this.bus.join({ group: this.name, controllers, retry: { ...QUICK, ...retry } });
    this.#members.push(member);
    return member;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.stop()));
  }
}

/** Runs a test with a group of its own. */
export type InGroup = (test: (group: Group) => Promise<void>) => () => Promise<void>;
