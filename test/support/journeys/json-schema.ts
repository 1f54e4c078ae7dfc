// The validator comes along with the build's dependencies; it is CommonJS, so the class is a property of the module.
import { Ajv2020 } from 'ajv/dist/2020.js';

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema?: object }>>;

/** Judges values by the schemas of an OpenAPI 3.1 document. */
export class SchemaJudge {
  readonly #ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });

  constructor(document: OpenApiDocument) {
    const circular = Object.entries(document.components?.schemas ?? {})
      .filter(
        ([name, schema]) =>
          JSON.stringify(schema) === JSON.stringify({ $ref: `#/components/schemas/${name}` }),
      )
      .map(([name]) => name);
    // A schema that is nothing but itself describes nothing, and the validator would look for it for ever.
    if (circular.length > 0) throw new Error(`schemas that refer to themselves alone: ${circular}`);
    this.#ajv.addSchema({ $id: 'https://api.test/openapi', ...document });
  }

  /** What is wrong with a value; nothing when the schema at that pointer takes it. */
  faults(pointer: string, value: unknown): readonly string[] {
    const validate = this.#ajv.compile({ $ref: `https://api.test/openapi#${pointer}` });
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  /** Whether it is a schema at all: compiles, references included. */
  compiles(pointer: string): void {
    this.#ajv.compile({ $ref: `https://api.test/openapi#${pointer}` });
  }
}

/** A JSON pointer as the fragment of a URI. */
export const pointerOf = (...steps: readonly string[]): string =>
  steps.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');
