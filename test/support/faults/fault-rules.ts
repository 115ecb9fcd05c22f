/** Which of the matching things a fault strikes. */
export interface Selection {
  /** The first one struck, counted among those that match from now on; 1 is the next one. */
  readonly nth?: number;
  /** How many are struck from there on: 1 by default, `Infinity` for all until the rule is removed. */
  readonly times?: number;
}

interface Rule<Subject, Fault> {
  readonly match: (subject: Subject) => boolean;
  readonly fault: Fault;
  skip: number;
  left: number;
}

/** The faults a test has ordered, in the order of its calls: the first rule that strikes a subject decides. */
export class FaultRules<Subject, Fault> {
  readonly #rules = new Set<Rule<Subject, Fault>>();

  /** Orders a fault; the answer withdraws it. */
  add(match: (subject: Subject) => boolean, fault: Fault, { nth = 1, times = 1 }: Selection = {}): () => void {
    const rule = { match, fault, skip: nth - 1, left: times };
    this.#rules.add(rule);
    return () => void this.#rules.delete(rule);
  }

  /** The fault that strikes this subject, used up by one. Rules behind it do not see the subject. */
  strike(subject: Subject): Fault | undefined {
    for (const rule of this.#rules) {
      if (!rule.match(subject)) continue;
      if (rule.skip > 0) {
        rule.skip -= 1;
        continue;
      }
      rule.left -= 1;
      if (rule.left <= 0) this.#rules.delete(rule);
      return rule.fault;
    }
    return undefined;
  }

  clear(): void {
    this.#rules.clear();
  }
}
