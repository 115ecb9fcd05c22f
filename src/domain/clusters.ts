/** Another cluster, which holds a name now. */
export interface NameHolder {
  /** The uid of its namespace kube-system. */
  readonly heldBy: string;
  /** By the database's clock. */
  readonly seenAt: Date;
}
