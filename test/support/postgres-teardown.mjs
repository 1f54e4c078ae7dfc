import './typescript.mjs';

export default async function teardown() {
  const { stopAfterAllTests } = await import('./postgres-server.ts');
  await stopAfterAllTests();
}
