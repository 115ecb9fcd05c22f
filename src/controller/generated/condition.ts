// Made from crds/ by `npm run generate`: never edited by hand.

/**
 * One condition.
 */
export interface Condition {
  /**
   * Name of the condition.
   */
  type: string;
  /**
   * Whether it holds.
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
   * Why, in one CamelCase word.
   */
  reason: string;
  /**
   * Why, and what to do about it.
   */
  message: string;
}
