import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { kafkaJars } from './artifacts.mjs';

const READY_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;
const FORMAT_TIMEOUT_MS = 30_000;
const LOOK_AGAIN_MS = 25;
const CLUSTER_ID = 'MkU3OEVBNTcwNTJENDM2Qk';
// Quick to start and small, at the price of throughput that nobody needs here.
const JVM = ['-Xms128m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
const LOG = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
];
const STARTED = 'Kafka Server started';

/** Starts the broker and stays, so that it does not outlive whoever has started it: their end closes the pipe. */
const WATCHED = '"$@" </dev/null & echo "pid $!"; cat >/dev/null; kill -9 $! 2>/dev/null';

/**
 * Starts Apache Kafka as one KRaft node that only this machine reaches. Resolves when it takes connections, with
 * `{brokers, port, dataDir, pid, stop, kill}`. With a `port` and `dataDir` of an earlier one it is that one again; a data
 * directory that is not given is removed by `stop`. `settings` makes properties that are added, out of those that
 * there would be; `scram` are credentials to begin with, as `--add-scram` of Kafka's storage tool takes them.
 */
export async function startKafka({ port, dataDir, settings, scram = [] } = {}) {
  const jars = await kafkaJars();
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'settled-kafka-'));
  const [own, controller] = [port ?? (await freePort()), await freePort()];
  if (port !== undefined && !(await isFree(port))) throw new Error(`port ${port} is taken`);
  const usual = propertiesOf(folder, own, controller);
  const properties = writeProperties(folder, { ...usual, ...settings?.(usual) });
  const java = ['java', ...JVM, ...LOG, '-cp', join(jars, '*')];
  if (!existsSync(join(folder, 'log', 'meta.properties'))) await format(java, properties, scram);
  const watcher = spawn('sh', ['-c', WATCHED, 'sh', ...java, 'kafka.Kafka', properties], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const output = collect(watcher);
  const end = async (signal) => {
    const pid = output.pid();
    if (pid !== undefined && isRunning(pid)) {
      process.kill(pid, signal);
      await until(() => !isRunning(pid), STOP_TIMEOUT_MS).catch(() => process.kill(pid, 'SIGKILL'));
    }
    const gone = watcher.exitCode === null ? once(watcher, 'exit') : undefined;
    watcher.stdin.end();
    await gone;
  };
  try {
    await until(() => {
      if (output.text().includes(STARTED)) return true;
      if (output.pid() !== undefined && !isRunning(output.pid())) throw new Error('it ended');
      return false;
    }, READY_TIMEOUT_MS);
  } catch (error) {
    await end('SIGKILL');
    throw new Error(`Kafka did not start: ${error.message}\n${output.text()}`);
  }
  return {
    brokers: [`127.0.0.1:${own}`],
    port: own,
    dataDir: folder,
    pid: output.pid(),
    /** In order. */
    stop: async () => {
      await end('SIGTERM');
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true });
    },
    /** As a crash does; the data stays. */
    kill: () => end('SIGKILL'),
  };
}

function propertiesOf(folder, port, controllerPort) {
  return {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': join(folder, 'log'),
    // One node holds the only copy of everything.
    'offsets.topic.replication.factor': 1,
    'offsets.topic.num.partitions': 4,
    'transaction.state.log.replication.factor': 1,
    'transaction.state.log.min.isr': 1,
    'transaction.state.log.num.partitions': 4,
    'share.coordinator.state.topic.replication.factor': 1,
    'share.coordinator.state.topic.min.isr': 1,
    // A group that forms does not wait for members that may be on their way.
    'group.initial.rebalance.delay.ms': 0,
    'auto.create.topics.enable': false,
  };
}

function writeProperties(folder, settings) {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, 'server.properties');
  writeFileSync(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
  return file;
}

async function format([command, ...java], properties, scram) {
  const args = [...java, 'kafka.tools.StorageTool', 'format', '-t', CLUSTER_ID, '-c', properties];
  for (const credential of scram) args.push('--add-scram', credential);
  await promisify(execFile)(command, args, { timeout: FORMAT_TIMEOUT_MS });
}

function collect(child) {
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk) => {
      // The end of a long log says why.
      text = (text + chunk).slice(-20_000);
    });
  }
  let pid;
  return {
    text: () => text,
    pid: () => {
      pid ??= Number(/^pid (\d+)$/m.exec(text)?.[1] ?? Number.NaN) || undefined;
      return pid;
    },
  };
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function until(condition, withinMs) {
  const deadline = performance.now() + withinMs;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`not within ${withinMs} ms`);
    await pause(LOOK_AGAIN_MS);
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}
