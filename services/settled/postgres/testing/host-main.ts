import { startEmbeddedPostgres } from '../embedded-postgres.js';
import { query } from './scratch.js';

/** A host in a process of its own: says how its start went, and on SIGINT that its server still answers. */
const say = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`);

try {
  const dataDir = process.argv[2] ?? '';
  const server = await startEmbeddedPostgres({ dataDir, log: () => undefined });
  process.on('SIGINT', async () => {
    // Time enough for a signal to the whole terminal to have ended the server, if it reached it.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const answered = await query(server.connection, 'SELECT 1').then(
      () => true,
      () => false,
    );
    await server.stop();
    say({ answered });
  });
  say({ connection: server.connection });
} catch (error) {
  say({ error: (error as Error).message });
}
