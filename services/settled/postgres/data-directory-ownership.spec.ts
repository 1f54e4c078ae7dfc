import { spawnSync } from 'node:child_process';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { HostProcess } from './testing/host-process.js';
import { PreparedCluster } from './testing/prepared-cluster.js';
import { messageOf, processExists, query, Scratch, serverPid, until } from './testing/scratch.js';

describe('A data directory', () => {
  let prepared: PreparedCluster;
  beforeAll(async () => {
    prepared = await PreparedCluster.make();
  });
  afterAll(() => prepared.remove());

  let scratch: Scratch;
  let dataDir: string;
  beforeEach(async () => {
    scratch = await Scratch.create();
    dataDir = join(scratch.path, 'data');
    await prepared.copyTo(dataDir);
  });
  afterEach(() => scratch.remove());

  function host(options: ConstructorParameters<typeof HostProcess>[1] = {}): HostProcess {
    const started = new HostProcess(dataDir, options);
    scratch.atEnd(() => started.kill());
    return started;
  }

  it('is refused to a second start while the first one lives, and the server is left alone', async () => {
    const { connection } = await scratch.start(dataDir);
    const pid = await serverPid(dataDir);

    const refusal = `The data directory ${join(dataDir, 'postgres')} is in use by another running Settled (its PostgreSQL is process ${pid})`;
    expect(await messageOf(scratch.start(dataDir))).toBe(refusal);
    expect(await host().says()).toEqual({ error: refusal });
    expect(await serverPid(dataDir)).toBe(pid);
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('comes with its running server when the host before was killed', async () => {
    const killed = host();
    const { connection } = await killed.says();
    const pid = await serverPid(dataDir);
    await killed.kill();

    const adopted = await scratch.start(dataDir);
    expect(adopted.connection).toEqual(connection);
    expect(await serverPid(dataDir)).toBe(pid);
    expect(scratch.lines).toEqual([`PostgreSQL was running and is adopted, process ${pid}`]);

    await adopted.stop();
    await until(() => !processExists(pid));
  });

  it('tells the end of an adopted server too', async () => {
    const killed = host();
    await killed.says();
    await killed.kill();
    const adopted = await scratch.start(dataDir);
    process.kill(await serverPid(dataDir), 'SIGKILL');
    await adopted.exited;
    expect(await query((await scratch.start(dataDir)).connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  it('is cleared of what a server left that died without a host', async () => {
    const killed = host();
    const { connection } = await killed.says();
    await killed.kill();
    process.kill(await serverPid(dataDir), 'SIGKILL');

    await scratch.start(dataDir);
    expect(await messageOf(stat(connection?.host ?? ''))).toMatch(/ENOENT/);
    expect(scratch.lines[0]).toMatch(/ended without a shutdown; recovering/);
  });

  it('waits for the server that is being stopped as its host is killed', async () => {
    const killed = host();
    const { connection } = await killed.says();
    const pid = await serverPid(dataDir);
    await killed.kill();
    // Nobody is left to remove the directory of its socket.
    scratch.atEnd(() => rm(connection?.host ?? '', { recursive: true, force: true }));
    process.kill(pid, 'SIGINT');

    await scratch.start(dataDir);
    expect(await serverPid(dataDir)).not.toBe(pid);
  });

  it.each([1, 2, 3])('has one winner of two starts at once on nothing (round %i)', async () => {
    await rm(dataDir, { recursive: true });
    const hosts = [host(), host()];
    const said = await Promise.all(hosts.map((each) => each.says()));

    expect(said.map((message) => message.error).filter((error) => error !== undefined)).toEqual([
      expect.stringMatching(/^The data directory .* is in use by another running Settled/),
    ]);
    const loser = hosts[said.findIndex((message) => message.error !== undefined)];
    await loser?.exited;
    const connection = said.find((message) => message.connection !== undefined)?.connection;
    if (connection === undefined) throw new Error('nobody won');
    expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    expect((await readdir(dataDir)).sort()).toEqual(['postgres', 'postgres.log']);

    const winner = hosts.find((each) => each !== loser);
    winner?.signal('SIGINT');
    await winner?.exited;
  });

  it('keeps its server through a Ctrl-C until the host has stopped it', async () => {
    const interrupted = host();
    await interrupted.says();
    const pid = await serverPid(dataDir);
    interrupted.signal('SIGINT');

    expect(await interrupted.says()).toEqual({ answered: true });
    await interrupted.exited;
    expect(processExists(pid)).toBe(false);
  });

  const setpriv = spawnSync('setpriv', ['--version']).status === 0;
  const blind = process.getuid?.() === 0 && setpriv ? it : it.skip;
  blind(
    'is recognised by a root that may not look into processes, as in a container (needs root, setpriv)',
    async () => {
      const through = ['setpriv', '--bounding-set', '-sys_ptrace', '--inh-caps', '-sys_ptrace'];
      const killed = host({ through });
      await killed.says();
      const pid = await serverPid(dataDir);
      await killed.kill();

      const adopter = host({ through });
      expect((await adopter.says()).error).toBeUndefined();
      expect(await serverPid(dataDir)).toBe(pid);
      adopter.signal('SIGINT');
      expect(await adopter.says()).toEqual({ answered: true });
      await until(() => !processExists(pid));
    },
  );
});
