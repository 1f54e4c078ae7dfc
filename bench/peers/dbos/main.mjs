import { DBOS } from '@dbos-inc/dbos-sdk';
import Fastify from 'fastify';
import { v7 as uuidv7 } from 'uuid';
import { startPostgres } from '../../database/postgres.mjs';
import { onTermination } from '../on-termination.mjs';

const POOL_SIZE = Number(process.env.POOL_SIZE ?? 10);
const TOPIC = 'answer';

const { stop: stopPostgres, host, port, user, database } = await startPostgres(process.env.DATA_DIR);
DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: `postgresql://${user}@localhost/${database}?host=${encodeURIComponent(host)}&port=${port}`,
  systemDatabasePoolSize: POOL_SIZE,
  logLevel: 'error',
});

const ask = DBOS.registerWorkflow(
  async (question) => {
    const answer = await DBOS.recv(TOPIC, question.expiresIn);
    return { ...question, state: answer === null ? 'expired' : 'answered', answer };
  },
  { name: 'ask' },
);
await DBOS.launch();

// A workflow's own handle resolves in this process; a retrieved one polls the database instead.
const handles = new Map();
const app = Fastify();

app.post('/v1/questions', async (request, reply) => {
  const id = uuidv7();
  const handle = await DBOS.startWorkflow(ask, { workflowID: id })(request.body);
  handles.set(id, handle);
  return reply.code(201).send({ id, state: 'pending', ...request.body });
});

app.get('/v1/questions/:id/wait', async (request) => {
  const { id } = request.params;
  const question = await (handles.get(id) ?? DBOS.retrieveWorkflow(id)).getResult();
  handles.delete(id);
  return question;
});

app.post('/v1/questions/:id/answer', async (request) => {
  await DBOS.send(request.params.id, request.body, TOPIC);
  return { applied: true };
});

onTermination(async () => {
  await app.close();
  await DBOS.shutdown();
  await stopPostgres();
});
const url = await app.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1' });
console.log(`ready url=${url}`);
