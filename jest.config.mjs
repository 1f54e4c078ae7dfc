export default {
  rootDir: '.',
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testEnvironment: 'node',
  globalSetup: '<rootDir>/test/support/setup.mjs',
  globalTeardown: '<rootDir>/test/support/teardown.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^#(contracts|domain|eventlog|settling|bus|platform|service)$': '<rootDir>/libs/$1/index.ts',
    '^#kafka$': '<rootDir>/libs/bus/kafka/index.ts',
  },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
        module: { type: 'es6' },
      },
    ],
  },
  maxWorkers: 2,
  testTimeout: 60_000,
};
