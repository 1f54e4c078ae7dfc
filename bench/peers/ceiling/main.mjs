import Fastify from 'fastify';
import { onTermination } from '../on-termination.mjs';
import { envelope, LIST } from './constants.mjs';

// What HTTP alone costs: the same requests and responses, and nothing behind them but a map.

const parked = new Map();
let asked = 0;

const app = Fastify();

app.post('/v1/questions', async (_request, reply) => {
  asked += 1;
  return reply.code(201).send(envelope(String(asked), 'pending'));
});

app.get('/v1/questions/:id/wait', (request, reply) => {
  const { id } = request.params;
  const arrived = parked.get(id);
  if (arrived === undefined) {
    parked.set(id, reply);
    return;
  }
  parked.delete(id);
  reply.send(arrived);
});

app.post('/v1/questions/:id/answer', async (request) => {
  const { id } = request.params;
  const question = envelope(id, 'answered');
  const reply = parked.get(id);
  if (reply === undefined) {
    parked.set(id, question);
  } else {
    parked.delete(id);
    reply.send(question);
  }
  return { applied: true, question };
});

const FETCHED = JSON.stringify(envelope('1', 'answered'));
app.get('/v1/questions/:id', (_request, reply) => {
  reply.type('application/json').send(FETCHED);
});
app.get('/v1/questions', (_request, reply) => {
  reply.type('application/json').send(LIST);
});

onTermination(() => app.close());
const url = await app.listen({ port: Number(process.env.PORT ?? 0), host: '127.0.0.1' });
console.log(`ready url=${url}`);
