import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

export interface LogLine {
  readonly message: string;
  readonly level: string;
  readonly fields: readonly string[];
}

const levels = ['error', 'warn', 'info', 'debug'];

/** The lines that the program logs, as its source says. `…` stands for what the program puts into a message. */
export function logLines(): readonly LogLine[] {
  const found = new Map<string, LogLine>();
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  for (const name of sources.toSorted())
    for (const line of linesOf(name, readFileSync(join('src', name), 'utf8'))) {
      const known = found.get(line.message);
      const fields = [...new Set([...(known?.fields ?? []), ...line.fields])];
      // What is logged at two levels is news once, and a repetition later.
      found.set(line.message, { ...line, level: known?.level ?? line.level, fields });
    }
  return [...found.values()];
}

function linesOf(file: string, code: string): readonly LogLine[] {
  const { program } = parseSync(file, code);
  /** The objects that variables have: a line may spread one. */
  const objects = new Map<string, ESTree.Node>();
  const calls: ESTree.CallExpression[] = [];
  new Visitor({
    VariableDeclarator({ id, init }) {
      if (id.type === 'Identifier' && init !== null) objects.set(id.name, init);
    },
    CallExpression(node) {
      calls.push(node);
    },
  }).visit(program);
  const fieldsOf = (node: ESTree.Node | undefined): readonly string[] => {
    switch (node?.type) {
      case 'ObjectExpression':
        return node.properties.flatMap((each) =>
          each.type === 'SpreadElement' ? fieldsOf(each.argument) : keyOf(each.key),
        );
      case 'LogicalExpression':
        return fieldsOf(node.right);
      case 'ConditionalExpression':
        return [...fieldsOf(node.consequent), ...fieldsOf(node.alternate)];
      case 'ParenthesizedExpression':
        return fieldsOf(node.expression);
      case 'ArrowFunctionExpression':
        return fieldsOf(node.body);
      case 'CallExpression':
        return fieldsOf(node.callee);
      case 'Identifier': {
        const object = objects.get(node.name);
        return object === node ? [] : fieldsOf(object);
      }
      default:
        return [];
    }
  };
  return calls.flatMap(({ callee, arguments: [facts, text] }) => {
    const message = messageOf(text);
    if (message === undefined) return [];
    if (callee.type === 'Identifier' && callee.name === 'warn')
      return [{ message, level: 'warn', fields: ['run', 'err'] }];
    if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return [];
    const level = callee.property.name;
    if (!levels.includes(level)) return [];
    // `warn(error, 'not saved')` of a run's loop is a line, too.
    const fields = callee.object.type === 'ThisExpression' ? ['run', 'err'] : fieldsOf(facts);
    return [{ message, level, fields }];
  });
}

function keyOf(key: ESTree.Node): readonly string[] {
  return key.type === 'Identifier' ? [key.name] : [];
}

function messageOf(node: ESTree.Node | undefined): string | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  if (node?.type === 'TemplateLiteral') return node.quasis.map(({ value }) => value.cooked).join('…');
  return undefined;
}
