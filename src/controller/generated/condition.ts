// Made from crds/ by `npm run generate`: never edited by hand.

/**
 * A condition.
 */
export interface Condition {
  /**
   * The name of the condition.
   */
  type: string;
  /**
   * Whether the condition is met.
   */
  status: 'True' | 'False' | 'Unknown';
  /**
   * The generation of the spec that the condition was set for.
   */
  observedGeneration?: number;
  /**
   * When the condition's status last changed.
   */
  lastTransitionTime: string;
  /**
   * The reason, in one CamelCase word.
   */
  reason: string;
  /**
   * Why, and what to do about it.
   */
  message: string;
}
