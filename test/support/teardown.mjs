import './typescript.mjs';

export default async function teardown() {
  const { stopAfterAllTests } = await import('./postgres-server.ts');
  const { withdrawKafka } = await import('./kafka-server.ts');
  await Promise.all([stopAfterAllTests(), withdrawKafka()]);
}
