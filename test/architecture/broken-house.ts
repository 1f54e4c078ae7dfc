import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Files that each break the rule before them, and no other. */
export const BREACHES: readonly (readonly [rule: string, file: string, source: string])[] = [
  ['contracts-imports-only-zod', 'libs/contracts/random.ts', "import 'node:crypto';"],
  ['contracts-imports-only-zod', 'libs/contracts/house.ts', "import '#platform';"],
  ['contracts-imports-only-zod', 'libs/contracts/nest.ts', "import '@nestjs/common';"],
  [
    'domain-imports-only-contracts',
    'libs/domain/database.ts',
    "import type pg from 'pg';\nexport type Pool = pg.Pool;",
  ],
  ['domain-imports-only-contracts', 'libs/domain/files.ts', "import 'node:fs';"],
  ['domain-imports-only-contracts', 'libs/domain/log.ts', "import '#eventlog';"],
  ['domain-imports-only-contracts', 'libs/domain/schemas.ts', "import 'zod';"],
  ['platform-imports-of-the-house-only-contracts', 'libs/platform/rules.ts', "import '#domain';"],
  ['platform-imports-of-the-house-only-contracts', 'libs/platform/log.ts', "import '#eventlog';"],
  ['eventlog-imports-of-the-house-only-contracts', 'libs/eventlog/rules.ts', "import '#domain';"],
  ['eventlog-imports-of-the-house-only-contracts', 'libs/eventlog/platform.ts', "import '#platform';"],
  [
    'settling-imports-of-the-house-only-contracts-and-domain-and-eventlog-and-platform',
    'libs/settling/bus.ts',
    "import '#bus';",
  ],
  [
    'bus-imports-of-the-house-only-contracts-and-eventlog-and-platform',
    'libs/bus/rules.ts',
    "import '#domain';",
  ],
  [
    'service-imports-of-the-house-only-contracts-and-eventlog-and-bus-and-platform',
    'libs/service/rules.ts',
    "import '#domain';",
  ],
  ['libs-import-no-service', 'libs/other/service.ts', "import '../../services/questions/question.js';"],
  ['services-import-no-other-service', 'services/expiry/asks.ts', "import '../questions/question.js';"],
  ['services-import-no-other-service', 'services/expiry/hosts.ts', "import '../settled/main.js';"],
  ['http-imports-no-store', 'services/questions/http/stores.ts', "import '../store/rows.js';"],
  ['http-imports-no-store', 'services/questions/rooms/http/stores.ts', "import '../../store/rows.js';"],
  ['store-imports-no-http', 'services/questions/store/serves.ts', "import '../http/routes.js';"],
  ['libs-enter-libs-by-their-name', 'libs/eventlog/path.ts', "import '../contracts/index.js';"],
  ['services-enter-libs-by-their-name', 'services/questions/path.ts', "import '../../libs/domain/index.js';"],
  ['no-cycles', 'services/questions/one.ts', "import './two.js';"],
  ['what-is-shipped-imports-no-test', 'services/questions/support.ts', "import '../../test/support.js';"],
  ['what-is-shipped-imports-no-test', 'services/questions/tested.ts', "import './question.spec.js';"],
  ['what-is-shipped-imports-only-dependencies', 'services/questions/tools.ts', "import 'fast-check';"],
  ['every-import-resolves', 'services/questions/lost.ts', "import './nowhere.js';"],
];

/** Files that break none. */
const SOUND: Readonly<Record<string, string>> = {
  'libs/contracts/index.ts': "import 'zod';",
  'libs/domain/index.ts': "import './rule.js';\nimport '#contracts';",
  'libs/domain/rule.ts': '',
  'libs/domain/rule.spec.ts':
    "import 'node:fs';\nimport 'fast-check';\nimport '../platform/index.js';\nimport '../../test/support.js';",
  'libs/platform/index.ts': "import 'node:fs';\nimport 'pg';\nimport '#contracts';",
  'libs/eventlog/index.ts': "import 'pg';\nimport '#contracts';",
  'libs/settling/index.ts':
    "import '#contracts';\nimport '#domain';\nimport '#eventlog';\nimport '#platform';",
  'libs/bus/index.ts':
    "import '@nestjs/common';\nimport '#contracts';\nimport '#eventlog';\nimport '#platform';",
  'libs/service/index.ts': "import '#contracts';\nimport '#eventlog';\nimport '#bus';\nimport '#platform';",
  'services/questions/question.ts':
    "import './http/routes.js';\nimport './store/rows.js';\nimport '#domain';\nimport '#bus';",
  'services/questions/two.ts': "import type { One } from './one.js';\nexport type Two = One;",
  'services/questions/question.spec.ts': "import './question.js';\nimport '../../test/support.js';",
  'services/questions/http/routes.ts': "import '#platform';",
  'services/questions/store/rows.ts': "import '#eventlog';",
  'services/settled/main.ts': "import '../questions/question.js';",
  'test/support.ts':
    "import '../libs/domain/rule.js';\nimport '../services/questions/store/rows.js';\nimport 'fast-check';",
};

/** A house with every breach in it, beside sound files; the caller removes it. */
export function buildBrokenHouse(root: string): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'settled-house-'));
  const files = { ...SOUND, ...Object.fromEntries(BREACHES.map(([, file, source]) => [file, source])) };
  for (const [file, source] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), source);
  }
  for (const shared of ['node_modules', 'package.json'])
    symlinkSync(join(root, shared), join(folder, shared));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
