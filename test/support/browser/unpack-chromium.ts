import chromium from '@sparticuz/chromium';

/** Unpacks the browser of the package into the folder for temporary files, TMPDIR. chromium.ts starts it with its own one. */
await chromium.executablePath();
