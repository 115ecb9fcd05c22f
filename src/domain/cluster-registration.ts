import { isDnsLabel, isDnsName } from './kubernetes-names.ts';

/** How the controller of a remote cluster proves which cluster it is. Pure. */

const subjectForm = /^system:serviceaccount:([^:]+):([^:]+)$/;
const uidForm = /^[0-9A-Za-z][0-9A-Za-z-]{0,63}$/;

/** Checks the claim `sub` of a ServiceAccount. Returns undefined if it is valid. */
export function validateSubject(text: string): string | undefined {
  const [, namespace = '', name = ''] = subjectForm.exec(text) ?? [];
  return isDnsLabel(namespace) && isDnsName(name)
    ? undefined
    : 'must be the subject of a ServiceAccount, such as system:serviceaccount:keyframe:keyframe-controller';
}

/** Checks the uid of a namespace kube-system. Returns undefined if it is valid. */
export function validateClusterUid(text: string): string | undefined {
  return uidForm.test(text)
    ? undefined
    : 'must be the uid of the namespace kube-system: 1 to 64 letters, digits and hyphens';
}
