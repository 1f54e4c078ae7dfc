import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv, type ValidateFunction } from 'ajv';
import { OUTCOMES_TOPIC, QUESTIONS_TOPIC } from '#contracts';
import type { LoggedEvent } from '#eventlog';
import { recordOf } from '#kafka';
import { asyncApiDocument } from '../../libs/contracts/asyncapi.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { openLog, type TestLog } from '../support/log.js';
import { answerQuestion, askQuestion, idOf, projectEnvelope } from '../support/questions.js';
import { textOf } from './compose.js';

const { version } = JSON.parse(textOf('package.json')) as { version: string };
const document = asyncApiDocument(version) as unknown as AsyncApi;

interface AsyncApi {
  readonly channels: Readonly<Record<string, { readonly address: string; readonly messages: object }>>;
  readonly components: { readonly messages: object };
}

describe('the AsyncAPI document', () => {
  test('is valid by the schema of AsyncAPI 3.0', () => {
    const file = createRequire(import.meta.url).resolve('@asyncapi/specs/schemas/3.0.0-without-$id.json');
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(
      JSON.parse(readFileSync(file, 'utf8')),
    );
    validate(document);
    expect(validate.errors).toBeNull();
    expect(validate({ ...document, channels: { questions: { adress: 'settled.questions.v1' } } })).toBe(
      false,
    );
  });

  test('is the one in docs: npm run asyncapi brings it up to date', () => {
    expect(JSON.parse(textOf('docs/asyncapi.json'))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('is linked from the README', () => {
    expect(textOf('README.md')).toContain('(docs/asyncapi.json)');
  });

  test('has both topics, the second with outcomes alone', () => {
    const { questions, outcomes } = document.channels;
    expect([questions?.address, outcomes?.address]).toEqual([QUESTIONS_TOPIC, OUTCOMES_TOPIC]);
    const settling = ['questionAnswered', 'questionExpired', 'questionCancelled'];
    expect(Object.keys(outcomes?.messages ?? {})).toEqual(settling);
    expect(Object.keys(questions?.messages ?? {})).toEqual(['questionAsked', ...settling]);
  });
});

describe('what is published', () => {
  let database: TestDatabase;
  let own: TestLog;
  beforeAll(async () => {
    database = await createTestDatabase();
    own = await openLog(database.connection);
  });
  afterAll(async () => {
    await own?.stop();
    await database?.drop();
  });

  const ajv = new Ajv({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'https://settled.test/asyncapi', ...document });

  function judge(message: string, part: 'headers' | 'payload'): ValidateFunction {
    const $ref = `https://settled.test/asyncapi#/components/messages/${message}/${part}`;
    return ajv.compile({ $ref });
  }

  function partsOf(event: LoggedEvent) {
    const { headers, value } = recordOf({
      ...event,
      question: idOf(event),
      envelope: projectEnvelope(event),
    });
    return { headers, payload: JSON.parse(String(value)) as unknown };
  }

  test('is as the message of its type says, and as no other', async () => {
    const asked = await askQuestion(own.log, { metadata: { build: 1234 } });
    const answered = await answerQuestion(own.log, idOf(asked));
    for (const [message, event, other] of [
      ['questionAsked', asked, answered],
      ['questionAnswered', answered, asked],
    ] as const) {
      for (const part of ['headers', 'payload'] as const) {
        const valid = judge(message, part);
        valid(partsOf(event)[part]);
        expect([message, part, valid.errors]).toEqual([message, part, null]);
        expect(valid(partsOf(other)[part])).toBe(false);
      }
    }
  });
});
