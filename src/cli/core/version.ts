// Filled in by the build.
declare const KEYFRAME_VERSION: string | undefined;

/** The version of this command, as package.json has it; «unbuilt» if it runs from its sources. */
export const version = typeof KEYFRAME_VERSION === 'string' ? KEYFRAME_VERSION : 'unbuilt';
