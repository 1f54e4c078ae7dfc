// Builds dist/ when a source is newer than the last build (or with --force).
// Two builds at once are safe: each compiles into a folder of its own and the rename decides.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const dist = join(root, 'dist');
const stamp = join(dist, '.built');

function newestSource() {
  let newest = 0;
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else newest = Math.max(newest, statSync(path).mtimeMs);
    }
  };
  for (const folder of ['libs', 'services']) visit(join(root, folder));
  for (const file of ['package.json', 'tsconfig.json', 'tsconfig.build.json']) {
    newest = Math.max(newest, statSync(join(root, file)).mtimeMs);
  }
  return newest;
}

function copyAssets(target) {
  const visit = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (/\.(sql|html|css)$/.test(entry.name)) cpSync(path, join(target, relative(root, path)));
    }
  };
  for (const folder of ['libs', 'services']) visit(join(root, folder));
}

// The reference page needs two files of a package of 12 MiB.
function copyReferencePage(target) {
  const swagger = dirname(createRequire(join(root, 'package.json')).resolve('swagger-ui-dist/package.json'));
  for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js']) {
    cpSync(join(swagger, file), join(target, 'libs/platform/http/reference', file));
  }
}

function compiler() {
  try {
    return createRequire(join(root, 'package.json')).resolve('typescript/bin/tsc');
  } catch {
    return undefined;
  }
}

if (!process.argv.includes('--force') && existsSync(stamp) && statSync(stamp).mtimeMs >= newestSource()) {
  process.exit(0);
}
const tsc = compiler();
if (tsc === undefined) {
  if (existsSync(stamp)) process.exit(0);
  console.error(
    'settled: dist/ is missing and TypeScript is not installed (npm ci without --omit=dev builds it)',
  );
  process.exit(process.env.npm_lifecycle_event === 'prepare' ? 0 : 1);
}
const target = mkdtempSync(join(root, '.dist-'));
const startedAt = new Date();
const result = spawnSync(process.execPath, [tsc, '-p', 'tsconfig.build.json', '--outDir', target], {
  cwd: root,
  stdio: ['ignore', 'inherit', 'inherit'],
});
if (result.status !== 0) {
  rmSync(target, { recursive: true, force: true });
  process.exit(result.status ?? 1);
}
copyAssets(target);
copyReferencePage(target);
writeFileSync(join(target, '.built'), startedAt.toISOString());
rmSync(dist, { recursive: true, force: true });
try {
  renameSync(target, dist);
} catch {
  // Another build was faster; its result stands.
  rmSync(target, { recursive: true, force: true });
}
