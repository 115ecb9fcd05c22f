import { meView } from '../me.ts';
import { endpoint } from './endpoint.ts';

/** docs/interface.md section 5 */

export const getMe = endpoint({
  method: 'GET',
  path: '/me',
  operation: 'getMe',
  summary: 'Get the user or service token behind the presented token',
  input: {},
  responses: { 200: meView },
});
