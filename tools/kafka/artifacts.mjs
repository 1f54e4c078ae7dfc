import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const POM = fileURLToPath(new URL('pom.xml', import.meta.url));
const VERSION = /kafka_2\.13<\/artifactId>\s*<version>([^<]+)</.exec(readFileSync(POM, 'utf8'))[1];
const JAVA_MIN = 17;
const DOWNLOAD_TIMEOUT_MS = 300_000;
const COMMAND_TIMEOUT_MS = 30_000;

/** Why a broker cannot be run here, in one line; undefined when it can. */
export async function missing() {
  const version = await run('java', ['-version'], { timeout: COMMAND_TIMEOUT_MS }).catch(() => undefined);
  if (version === undefined) return `java is not on the path: Kafka needs Java ${JAVA_MIN} or later`;
  const major = Number(/version "(\d+)/.exec(version.stderr)?.[1]);
  if (major < JAVA_MIN) return `this is Java ${major}: Kafka needs ${JAVA_MIN} or later`;
  if (existsSync(jarFolder())) return undefined;
  const maven = await run('mvn', ['-v'], { timeout: COMMAND_TIMEOUT_MS }).catch(() => undefined);
  return maven === undefined ? 'mvn is not on the path: it fetches Kafka once' : undefined;
}

/** The folder with the jars of Apache Kafka; they are fetched from Maven Central when they are not there yet. */
export async function kafkaJars() {
  const folder = jarFolder();
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const fetched = mkdtempSync(`${folder}-`);
  try {
    const goal = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${fetched}`];
    await run('mvn', ['-B', '-q', '-f', POM, ...goal], { timeout: DOWNLOAD_TIMEOUT_MS });
    // Of two that fetch at once the first rename decides.
    if (!existsSync(folder)) renameSync(fetched, folder);
  } catch (error) {
    if (!existsSync(folder)) throw new Error(`Kafka could not be fetched: ${error.stdout || error.message}`);
  } finally {
    rmSync(fetched, { recursive: true, force: true });
  }
  return folder;
}

function jarFolder() {
  const cache = process.env.SETTLED_KAFKA_CACHE ?? process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return join(cache, 'settled', 'kafka', VERSION);
}
