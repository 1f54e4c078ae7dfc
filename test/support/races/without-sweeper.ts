import 'reflect-metadata';
import type pg from 'pg';
import { EventLog } from '#eventlog';
import {
  Authenticator,
  createHttpApp,
  createLogger,
  createMetrics,
  createPool,
  insertKey,
  newSecret,
  RouteTable,
} from '#platform';
import { QuestionsModule } from '../../../services/questions/questions.module.js';
import { ASKER, TENANT } from './overdue-questions.js';
import { Participant } from './participant.js';

const POOL_SIZE = 4;

export interface FacadeAlone {
  readonly log: EventLog;
  readonly agent: Participant;
  readonly ada: Participant;
  readonly admin: Participant;
  stop(): Promise<void>;
}

/** The REST facade of questions alone: nothing in it looks for deadlines. */
export async function startWithoutSweeper(connection: pg.ClientConfig): Promise<FacadeAlone> {
  const pool = createPool(connection, POOL_SIZE);
  const log = new EventLog({ pool, connection });
  await log.start();
  const authenticator = new Authenticator(pool, undefined);
  const metrics = createMetrics();
  const logger = createLogger('silent');
  const module = QuestionsModule.over({ log, authenticator, metrics, logger });
  const app = await createHttpApp({ module, authenticator, logger, metrics, routes: new RouteTable() });
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as { port: number };
  const known = async (subject: string, scopes: Parameters<typeof insertKey>[2]['scopes']) => {
    const key = newSecret();
    await insertKey(pool, key, { subject, scopes, tenant: TENANT });
    return new Participant(`http://127.0.0.1:${port}`, { subject, key });
  };
  return {
    log,
    agent: await known(ASKER, ['ask']),
    ada: await known('user:ada', ['answer']),
    admin: await known('admin', ['admin']),
    stop: async () => {
      // A client may keep a connection open that it has never used; closing waits for those.
      app.getHttpServer().closeAllConnections();
      await app.close();
      await log.stop();
      await pool.end();
    },
  };
}
