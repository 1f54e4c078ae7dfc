// Who may import whom. `test/architecture/boundaries.spec.ts` holds the sources against it.

/** Specs and their support are not shipped, so the rules of the code that is shipped do not bind them. */
const SPEC = '\\.spec\\.ts$';

function mayOnlyImport(lib, { libs = [], packages = [] }) {
  const inside = [`^libs/${lib}/`, ...libs.map((name) => `^libs/${name}/`)];
  const outside = packages.map((name) => `(^|/)node_modules/${name}/`);
  return {
    name: `${lib}-imports-only-${[...libs, ...packages].join('-and-')}`,
    severity: 'error',
    from: { path: `^libs/${lib}/`, pathNot: SPEC },
    to: { pathNot: [...inside, ...outside] },
  };
}

/** Of this house only these libs; third parties and what Node brings are free. */
function ofTheHouseOnly(lib, libs) {
  return {
    name: `${lib}-imports-of-the-house-only-${libs.join('-and-')}`,
    severity: 'error',
    from: { path: `^libs/${lib}/`, pathNot: SPEC },
    to: { path: '^(libs|services|test)/', pathNot: [lib, ...libs].map((name) => `^libs/${name}/`) },
  };
}

export default {
  forbidden: [
    mayOnlyImport('contracts', { packages: ['zod'] }),
    mayOnlyImport('domain', { libs: ['contracts'] }),
    ofTheHouseOnly('platform', ['contracts']),
    ofTheHouseOnly('eventlog', ['contracts']),
    ofTheHouseOnly('settling', ['contracts', 'domain', 'eventlog', 'platform']),
    ofTheHouseOnly('bus', ['contracts', 'eventlog', 'platform']),
    ofTheHouseOnly('service', ['contracts', 'eventlog', 'bus', 'platform']),
    {
      name: 'libs-import-no-service',
      severity: 'error',
      from: { path: '^libs/', pathNot: SPEC },
      to: { path: '^services/' },
    },
    {
      name: 'services-import-no-other-service',
      comment: 'The all-in-one host alone is made of the others.',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: ['^services/settled/', SPEC] },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'http-imports-no-store',
      severity: 'error',
      from: { path: '^services/.*/http/', pathNot: SPEC },
      to: { path: '^services/.*/store/' },
    },
    {
      name: 'store-imports-no-http',
      severity: 'error',
      from: { path: '^services/.*/store/', pathNot: SPEC },
      to: { path: '^services/.*/http/' },
    },
    {
      name: 'libs-enter-libs-by-their-name',
      comment: 'As `#name`, not by a path.',
      severity: 'error',
      from: { path: '^libs/([^/]+)/', pathNot: SPEC },
      to: { path: '^libs/', pathNot: '^libs/$1/', dependencyTypesNot: ['aliased-subpath-import'] },
    },
    {
      name: 'services-enter-libs-by-their-name',
      comment: 'As `#name`, not by a path.',
      severity: 'error',
      from: { path: '^services/', pathNot: SPEC },
      to: { path: '^libs/', dependencyTypesNot: ['aliased-subpath-import'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'what-is-shipped-imports-no-test',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: SPEC },
      to: { path: ['^test/', SPEC] },
    },
    {
      name: 'what-is-shipped-imports-only-dependencies',
      comment:
        'A package for development, or one that only another package brings, may be missing in production.',
      severity: 'error',
      from: { path: '^(libs|services)/', pathNot: SPEC },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'every-import-resolves',
      comment: 'What cannot be resolved would escape every other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: '(^|/)node_modules/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
