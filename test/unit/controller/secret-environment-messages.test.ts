import { test } from '@jest/globals';
import * as messages from '../../../src/controller/kinds/secret-environment/messages.ts';
import { type Samples, expectGolden } from './golden-messages.ts';

const place = 'acme/web/prod';

const samples: Samples<typeof messages> = {
  suspended: [messages.suspended],
  available: [messages.available(place)],
  availableAndKept: [messages.availableAndKept(place)],
  displayNameIgnored: [messages.displayNameIgnored('blue-prod')],
  environmentDeleted: [
    messages.environmentDeleted(
      place,
      'environment acme/web/prod was deleted and still has that slug; undelete it with ' +
        '`keyframe env undelete prod -o acme -p web`, have an instance admin purge it, or choose another slug',
    ),
  ],
  slugTaken: [
    messages.slugTaken(
      'project acme/web was deleted and still has that slug; undelete it with `keyframe project undelete web -o acme`, ' +
        'have an instance admin purge it, or choose another slug',
    ),
  ],
  awaitsFinalizer: [messages.awaitsFinalizer(place, 'blue-prod')],
};

test('every message of a SecretEnvironment is in its golden file', () => {
  expectGolden('secret-environment', [[messages, samples]]);
});
