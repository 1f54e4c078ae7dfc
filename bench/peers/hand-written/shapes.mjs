const SUBJECT = { type: 'string', minLength: 1, maxLength: 200 };

export const ASK = {
  body: {
    type: 'object',
    required: ['prompt', 'options', 'scope'],
    additionalProperties: false,
    properties: {
      prompt: { type: 'string', minLength: 1, maxLength: 2_000 },
      context: { type: 'string', maxLength: 16_384 },
      options: {
        type: 'array',
        minItems: 1,
        maxItems: 20,
        items: {
          type: 'object',
          required: ['id', 'label'],
          additionalProperties: false,
          properties: { id: SUBJECT, label: SUBJECT },
        },
      },
      scope: {
        type: 'object',
        required: ['kind', 'user'],
        properties: { kind: { const: 'direct' }, user: SUBJECT },
      },
      expiresIn: { type: 'integer', minimum: 1, maximum: 7_776_000 },
      expiresAt: { type: 'string', format: 'date-time' },
      metadata: { type: 'object' },
    },
  },
};

const ID = { type: 'object', properties: { id: { type: 'string', format: 'uuid' } } };

export const FETCH = { params: ID };

export const WAIT = {
  params: ID,
  querystring: {
    type: 'object',
    properties: { timeout: { type: 'integer', minimum: 0, maximum: 60, default: 30 } },
  },
};

export const LIST = {
  querystring: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50 },
      cursor: { type: 'string', format: 'uuid' },
    },
  },
};

export const ANSWER = {
  params: ID,
  body: {
    type: 'object',
    required: ['option'],
    additionalProperties: false,
    properties: { option: SUBJECT },
  },
};
