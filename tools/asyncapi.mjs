// Writes docs/asyncapi.json: what Settled publishes to Kafka, from the contracts in the code.
import { readFileSync, writeFileSync } from 'node:fs';
import { asyncApiDocument } from '../dist/libs/contracts/asyncapi.js';

const fileOf = (path) => new URL(`../${path}`, import.meta.url);
const { version } = JSON.parse(readFileSync(fileOf('package.json'), 'utf8'));
writeFileSync(fileOf('docs/asyncapi.json'), `${JSON.stringify(asyncApiDocument(version), null, 2)}\n`);
