import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** Files beside the bundled code, so that the package needs no other package. */
export function shipped() {
  return [pglite(), licenses(), declarations(), executable()];
}

/** Unchanged, because PGlite's code evaluates text that names its variables, and reads files in its folder. */
function pglite() {
  const folder = dirname(createRequire(import.meta.url).resolve('@electric-sql/pglite'));
  const names = readdirSync(folder).filter((name) => /^(?:index|chunk-\w+)\.js$|\.wasm$/.test(name));
  const read = (name) => readFileSync(join(folder, name));
  return {
    ...assets('pglite', () => [
      ...[...names, 'fs/nodefs.js'].map((name) => [`pglite/${name}`, read(name)]),
      [
        'pglite/pglite.data',
        withoutEncodings(
          read('pglite.data'),
          names
            .filter((name) => name.endsWith('.js'))
            .map(read)
            .join('\n'),
        ),
      ],
    ]),
    resolveId(source) {
      const file = { '@electric-sql/pglite': 'index.js', '@electric-sql/pglite/nodefs': 'fs/nodefs.js' }[
        source
      ];
      return file && { id: `./pglite/${file}`, external: true };
    },
  };
}

/** Blanks the tables of encodings other than UTF-8, an eighth of the package, which no query needs. */
function withoutEncodings(data, code) {
  for (const [, start, end] of code.matchAll(/"[^"]+\/utf8_and_\w+\.so",start:(\w+),end:(\w+)/g))
    data.fill(0, Number(start), Number(end));
  return data;
}

/** Of packages whose code is in the bundle or in report.html. */
function licenses() {
  return assets('licenses', (bundle) => {
    const modules = Object.values(bundle).flatMap(({ moduleIds = [] }) => moduleIds);
    const folders = modules.flatMap(
      (id) => /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\]+/.exec(id) ?? [],
    );
    const texts = [
      ...new Set([...folders, resolve('node_modules/uplot'), resolve('node_modules/@electric-sql/pglite')]),
    ].map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice)/i.test(file));
      const text = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
      return [`# ${name} ${version} (${license})`, ...text].join('\n\n');
    });
    return [['licenses.txt', `${texts.toSorted().join('\n\n')}\n`]];
  });
}

/** Types of other packages, which no program sees. zod's own ship, because schemas are exported. */
const opaque = {
  bullmq:
    'export type BackendFactory<A, B> = (a: A) => B; export type IQueueBackend = object; export type Job<D> = { data: D };',
  fastify: 'export type FastifyInstance = object;',
  'lossless-json': 'export declare function isLosslessNumber(value: unknown): boolean;',
  undici: 'export type Dispatcher = object;',
};

/** Only those that a program needs. */
function declarations() {
  return assets('declarations', () => {
    const files = new Map(Object.entries(opaque).map(([name, text]) => [`types/${name}.d.ts`, text]));
    const add = (root, path) => {
      const file = join('types', relative(root, path)).replaceAll(sep, '/');
      if (files.has(file)) return file;
      files.set(file, '');
      const text = readFileSync(path, 'utf8').replace(/(?<=(?:from|import\() ?["'])[^"']+/g, (specifier) => {
        if (specifier.startsWith('node:')) return specifier;
        const target = specifier.startsWith('.')
          ? add(root, join(dirname(path), specifier.replace(/(?<!\.d)\.[jt]s$/, '.d.ts')))
          : specifier === 'zod'
            ? add(resolve('node_modules'), resolve('node_modules/zod/index.d.ts'))
            : `types/${specifier}.d.ts`;
        if (!files.has(target)) throw new Error(`${file} needs types of ${specifier}, which do not ship`);
        return specifier.startsWith('.')
          ? specifier
          : `./${relative(dirname(file), target).replaceAll(sep, '/').replace('.d.ts', '.js')}`;
      });
      files.set(file, text);
      return file;
    };
    add(resolve('dist'), resolve('dist/src/index.d.ts'));
    return files;
  });
}

function executable() {
  return { name: 'executable', writeBundle: () => chmodSync('dist/bin/cqbatch.js', 0o755) };
}

/** @param make names and contents of the files, from the bundle */
function assets(name, make) {
  return {
    name,
    writeBundle({ dir }, bundle) {
      for (const [fileName, content] of make(bundle)) {
        const path = join(dir, fileName);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
    },
  };
}
