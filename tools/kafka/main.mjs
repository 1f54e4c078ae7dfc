// `npm run kafka [-- --port N] [--data DIR]`: Apache Kafka for development, until it is interrupted.
import { parseArgs } from 'node:util';
import { missing } from './artifacts.mjs';
import { startKafka } from './broker.mjs';

const USAGE = 'npm run kafka [-- --port N] [--data DIR]';
const DEFAULT_PORT = '9092';

try {
  const { port, data, help } = parseArgs({
    options: {
      port: { type: 'string', default: DEFAULT_PORT },
      data: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  }).values;
  if (help) {
    console.log(
      `${USAGE}\n\n--port  where it listens (${DEFAULT_PORT})\n--data  a folder to keep its data in; else it is forgotten`,
    );
    process.exit(0);
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`--port is a number from 1 to 65535, and not ${port}`);
  const reason = await missing();
  if (reason !== undefined) throw new Error(reason);
  const broker = await startKafka({ port: Number(port), dataDir: data });
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => broker.stop().then(() => process.exit(0)));
  }
  console.log(`kafka ready brokers=${broker.brokers}`);
} catch (error) {
  console.error(`kafka: ${error.message}`);
  process.exit(1);
}
