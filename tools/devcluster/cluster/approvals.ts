import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../checkout.ts';
import { apply } from './apply.ts';
import type { KubeHttp } from './kube-http.ts';

const group = 'admissionregistration.k8s.io/v1';

export interface ApprovalOptions {
  /** Of the policy and its binding. */
  readonly name?: string;
  /** Where it holds; everywhere by default. */
  readonly namespaces?: readonly string[];
}

/**
 * Has the API server ask for the right to approve restores, by the policy that the chart ships. Answers the paths of what
 * it made: the binding, then the policy.
 */
export async function requireApprovals(client: KubeHttp, options: ApprovalOptions = {}): Promise<readonly string[]> {
  const { name = 'keyframe-approvals', namespaces } = options;
  const file = join(checkoutDirectory, 'charts', 'keyframe', 'files', 'approval-policy.yaml');
  const metadata = { name };
  const policyPath = `/apis/${group}/validatingadmissionpolicies/${name}`;
  const spec: unknown = parse(readFileSync(file, 'utf8'));
  await apply(client, policyPath, { apiVersion: group, kind: 'ValidatingAdmissionPolicy', metadata, spec });
  const byName = { key: 'kubernetes.io/metadata.name', operator: 'In', values: namespaces };
  const where =
    namespaces === undefined ? {} : { matchResources: { namespaceSelector: { matchExpressions: [byName] } } };
  const bindingPath = `/apis/${group}/validatingadmissionpolicybindings/${name}`;
  await apply(client, bindingPath, {
    apiVersion: group,
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata,
    spec: { policyName: name, validationActions: ['Deny'], ...where },
  });
  return [bindingPath, policyPath];
}
