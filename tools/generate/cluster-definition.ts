import { type Document, type YAMLMap, type YAMLSeq, parseDocument } from 'yaml';

/**
 * The parts of the definition of ClusterSecretSync that are those of SecretSync: the template's spec, and the rules that
 * relate a spec to the name of its resource.
 */

type Path = readonly (string | number)[];

const root: Path = ['spec', 'versions', 0, 'schema', 'openAPIV3Schema'];
const rulesPath: Path = [...root, 'x-kubernetes-validations'];
const specPath: Path = [...root, 'properties', 'spec'];
const templatePath: Path = [...specPath, 'properties', 'template', 'properties', 'spec'];

/** The definition of ClusterSecretSync as YAML, with what it takes from that of SecretSync in place of what it had. */
export function clusterDefinition(cluster: string, secretSync: string): string {
  const [document, source] = [parseDocument(cluster), parseDocument(secretSync)];
  document.setIn(templatePath, nodeAt(source, specPath));
  const own = nodeAt(document, rulesPath) as YAMLSeq<YAMLMap>;
  const taken = nodeAt(source, rulesPath) as YAMLSeq<YAMLMap>;
  own.items = [...own.items.filter((rule) => !isTaken(rule)), ...taken.items.map(ofTemplate)];
  return document.toString({ lineWidth: 0 });
}

function nodeAt(document: Document, path: Path): unknown {
  const node = document.getIn(path, true);
  if (node === undefined) throw new Error(`the definition has no ${path.join('.')}`);
  return node;
}

function isTaken(rule: YAMLMap): boolean {
  return textOf(rule, 'rule').includes('self.spec.template.spec.');
}

/** A rule about a SecretSync, as a rule about a template of the same name. */
function ofTemplate(rule: YAMLMap): YAMLMap {
  rule.set('rule', textOf(rule, 'rule').replaceAll(/\b(self|oldSelf)\.spec\./g, '$1.spec.template.spec.'));
  const message = textOf(rule, 'message').replaceAll(/\bspec\./g, 'spec.template.spec.');
  rule.set('message', message.replaceAll('a new SecretSync', 'a new ClusterSecretSync'));
  if (rule.has('fieldPath'))
    rule.set('fieldPath', textOf(rule, 'fieldPath').replace(/^\.spec\./, '.spec.template.spec.'));
  return rule;
}

function textOf(map: YAMLMap, key: string): string {
  const value = map.get(key);
  if (typeof value !== 'string') throw new Error(`a rule of the definition has no ${key}`);
  return value;
}
