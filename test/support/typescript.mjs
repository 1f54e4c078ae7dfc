// `node --import ./test/support/typescript.mjs file.ts`: runs TypeScript as Jest does, but in plain Node.
import { register } from 'node:module';

register('./typescript-hooks.mjs', import.meta.url);
