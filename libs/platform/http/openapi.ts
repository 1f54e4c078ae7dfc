import { z } from 'zod';
import { ProblemSchema } from '#contracts';
import type { Answers, RouteDeclaration } from './route.js';

type Json = Record<string, unknown>;

const JSON_SCHEMA = { target: 'draft-2020-12', unrepresentable: 'any', reused: 'inline' } as const;

/** The OpenAPI 3.1 document of declared routes; every schema comes from the one that the route validates with. */
export function openApiOf(routes: readonly RouteDeclaration[], version: string): Json {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Settled',
      version,
      description: 'Questions that a program asks and that people answer once.',
    },
    paths,
    components: {
      schemas: components.schemas,
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'An API key or a JWT' } },
    },
  };
}

function operationOf(route: RouteDeclaration, components: Components): Json {
  const operation: Json = {
    summary: route.summary,
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...headersOf(route),
    ],
    responses: responsesOf(route, components),
    security: route.access === 'public' ? [] : [{ bearer: [] }],
  };
  if (Array.isArray(route.access)) operation.description = `Needs the scope ${route.access.join(' or ')}.`;
  if (route.body !== undefined) {
    operation.requestBody = {
      content: { 'application/json': { schema: components.schemaOf(route.body, 'input') } },
    };
  }
  return operation;
}

function parametersOf(schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { ...JSON_SCHEMA, io: 'input' });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: property,
  }));
}

function headersOf({ method }: RouteDeclaration): Json[] {
  if (method !== 'POST') return [];
  const schema = { type: 'string', minLength: 1, maxLength: 200 };
  return [{ name: 'Idempotency-Key', in: 'header', required: false, schema }];
}

function responsesOf(route: RouteDeclaration, components: Components): Json {
  const answers = Object.entries(route.answers).map(([status, answer]) => {
    return [status, { description: route.summary, ...contentOf(answer, components) }];
  });
  const problem = { 'application/problem+json': { schema: components.schemaOf(ProblemSchema, 'output') } };
  return {
    ...Object.fromEntries(answers),
    default: { description: 'Problem details (RFC 9457)', content: problem },
  };
}

function contentOf(answer: Answers, components: Components): Json {
  if (answer === null) return {};
  if (!('media' in answer))
    return { content: { 'application/json': { schema: components.schemaOf(answer, 'output') } } };
  return {
    content: Object.fromEntries(answer.media.map((media) => [media, { schema: { type: 'string' } }])),
  };
}

/** Collects the named schemas (`.meta({ id })`) that the document refers to. */
class Components {
  readonly schemas: Record<string, unknown> = {};

  schemaOf(schema: z.ZodType, io: 'input' | 'output'): unknown {
    const {
      $defs = {},
      $schema: _,
      ...root
    } = z.toJSONSchema(schema, { ...JSON_SCHEMA, io }) as Json & {
      $defs?: Record<string, unknown>;
    };
    for (const [name, definition] of Object.entries($defs)) this.schemas[name] = refer(definition);
    // A named schema is a reference to its definition already.
    return refer(root);
  }
}

/** Definitions move from the schema that uses them to the components of the document. */
function refer(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'));
}
