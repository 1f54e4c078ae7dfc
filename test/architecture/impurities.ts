import ts from 'typescript';

/** Globals that know of time, chance, the machine or the network. */
const IMPURE = new Set([
  'console',
  'crypto',
  'fetch',
  'globalThis',
  'navigator',
  'performance',
  'process',
  'queueMicrotask',
  'require',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);
const PURE_OF_DATE = new Set(['parse', 'UTC']);

/** What in a source depends on anything but its input: each with its line. Comments and texts do not count. */
export function impurities(source: string): readonly string[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.ES2023, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (isImport(node) || (ts.isIdentifier(node) && isReference(node) && isImpure(node))) {
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      found.push(`${line + 1}: ${node.parent.getText()}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** `import(…)` or `import.meta`: a way around the imports that everybody sees. */
function isImport(node: ts.Node): boolean {
  if (ts.isMetaProperty(node)) return true;
  return ts.isCallExpression(node.parent ?? node) && node.kind === ts.SyntaxKind.ImportKeyword;
}

/** Not the name of somebody's property or type. */
function isReference(node: ts.Identifier): boolean {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent)) return parent.name !== node;
  if (ts.isTypeReferenceNode(parent)) return false;
  return !('name' in parent && parent.name === node) || ts.isShorthandPropertyAssignment(parent);
}

function isImpure(node: ts.Identifier): boolean {
  const { parent, text } = node;
  const member = ts.isPropertyAccessExpression(parent) ? parent.name.text : undefined;
  if (text === 'Math') return member === undefined || member === 'random';
  if (text !== 'Date') return IMPURE.has(text);
  if (member !== undefined) return !PURE_OF_DATE.has(member);
  return !(ts.isNewExpression(parent) && (parent.arguments ?? []).length > 0);
}
