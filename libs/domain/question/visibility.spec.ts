import { describe, expect, it } from '@jest/globals';
import type { AccessScope, Principal } from '#contracts';
import { type Asked, canSee } from '#domain';
import {
  ADA,
  ASKER,
  answered,
  asked,
  JOINED_AT,
  STRANGER,
  stateAfter,
  TENANT,
} from '../../../test/support/question-spec.js';

const direct = stateAfter(asked()) as Asked;
const room = stateAfter(asked({ scope: { kind: 'room', room: 'ops' } })) as Asked;

function principal(subject: string, scopes: readonly AccessScope[] = [], tenant = TENANT): Principal {
  return { subject, scopes: new Set(scopes), tenant };
}

describe('a direct question is seen', () => {
  it.each([
    ['by its asker', principal(ASKER), true],
    ['by its target', principal(ADA), true],
    ['by an auditor', principal(STRANGER, ['audit']), true],
    ['by an admin', principal(STRANGER, ['admin']), true],
    [
      'not by a stranger, whatever else they may do',
      principal(STRANGER, ['ask', 'answer', 'webhooks']),
      false,
    ],
    ['not by its asker’s namesake in another tenant', principal(ASKER, [], 'other'), false],
    ['not by its target’s namesake in another tenant', principal(ADA, [], 'other'), false],
    ['not by an admin of another tenant', principal(STRANGER, ['admin', 'audit'], 'other'), false],
  ])('%s', (_who, who, seen) => {
    expect(canSee(who, direct, null)).toBe(seen);
  });

  it('not by a stranger who is in some room', () => {
    expect(canSee(principal(STRANGER), direct, JOINED_AT)).toBe(false);
  });

  it('by the same people once it is settled', () => {
    const settled = stateAfter(asked(), answered()) as Asked;

    expect([ADA, ASKER, STRANGER].map((subject) => canSee(principal(subject), settled, null))).toStrictEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('a question to a room is seen', () => {
  it.each([
    ['by its present members', principal(STRANGER), JOINED_AT, true],
    ['not by who is not in the room', principal(STRANGER), null, false],
    ['by its asker, who need not be a member', principal(ASKER), null, true],
    ['by an auditor, who need not be a member', principal(STRANGER, ['audit']), null, true],
    [
      'not by a member of a room of that name in another tenant',
      principal(STRANGER, [], 'other'),
      JOINED_AT,
      false,
    ],
  ])('%s', (_who, who, memberSince, seen) => {
    expect(canSee(who, room, memberSince)).toBe(seen);
  });
});
