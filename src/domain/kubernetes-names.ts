/** Forms of the names and words of Kubernetes. */

const maxDnsNameLength = 253;
const dnsNameForm = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const dnsLabelForm = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const kindForm = /^[A-Z][A-Za-z0-9]{0,62}$/;
const reasonForm = /^[A-Z][A-Za-z0-9]{0,63}$/;

/** Whether a text is a valid resource name: a DNS subdomain (RFC 1123). */
export function isDnsName(text: string): boolean {
  return text.length <= maxDnsNameLength && dnsNameForm.test(text);
}

/** Whether a text is a DNS label (RFC 1123), such as the name of a namespace. */
export function isDnsLabel(text: string): boolean {
  return dnsLabelForm.test(text);
}

/** Whether a text is the kind of a resource, such as StatefulSet. */
export function isKind(text: string): boolean {
  return kindForm.test(text);
}

/** Whether a text is the reason of a condition: one CamelCase word. */
export function isConditionReason(text: string): boolean {
  return reasonForm.test(text);
}
