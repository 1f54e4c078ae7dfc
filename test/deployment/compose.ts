import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

const ROOT = new URL('../../', import.meta.url);

export interface ComposeService {
  readonly image: string;
  readonly command?: readonly string[];
  readonly restart: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

/** What stands in the place of variables that must be set. */
export const GIVEN = 'given-by-whoever-starts-it';

/** `docker-compose.yml` as it is written. */
export function composeSource(): Record<string, unknown> {
  return parse(textOf('docker-compose.yml'), { merge: true });
}

/** Its services, with nothing set from outside but what must be. */
export function composeServices(): Readonly<Record<string, ComposeService>> {
  const text = textOf('docker-compose.yml')
    .replaceAll(/\$\{\w+:-([^}]*)\}/g, '$1')
    .replaceAll(/\$\{\w+:\?[^}]*\}/g, GIVEN);
  return (parse(text, { merge: true }) as { services: Record<string, ComposeService> }).services;
}

/** The instructions of the Dockerfile's last stage: word and the rest of the line. */
export function imageInstructions(): readonly (readonly [instruction: string, value: string])[] {
  const stages = textOf('Dockerfile').split(/^(?=FROM )/m);
  const lines = (stages.at(-1) ?? '').split('\n').filter((line) => /^[A-Z]+ /.test(line));
  return lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);
}

/** Every path of this repository that the Dockerfile copies. */
export function copiedPaths(): readonly string[] {
  const copies = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)];
  return copies.flatMap(([, paths]) => (paths as string).split(' '));
}

export function pathOf(name: string): string {
  return fileURLToPath(new URL(name, ROOT));
}

export function textOf(name: string): string {
  return readFileSync(pathOf(name), 'utf8');
}
