import type { Principal } from '#contracts';
import type { Asked } from './state.js';

/** Its asker, the target of a direct one, the present members of the room of the other, auditors and admins. */
export function canSee(principal: Principal, state: Asked, memberSince: string | null): boolean {
  const { question } = state;
  if (question.tenant !== principal.tenant) return false;
  if (question.asker === principal.subject) return true;
  if (principal.scopes.has('audit') || principal.scopes.has('admin')) return true;
  return question.scope.kind === 'direct' ? question.scope.user === principal.subject : memberSince !== null;
}

/** Whose inbox a question is in: `direct:<subject>` or `room:<name>`. */
export function addresseeOf({ scope }: Pick<Asked['question'], 'scope'>): string {
  return scope.kind === 'direct' ? `direct:${scope.user}` : `room:${scope.room}`;
}
