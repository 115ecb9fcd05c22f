import { describe, expect, test } from '@jest/globals';
import { roleBindingChangeError } from '../../../src/domain/role-changes.ts';
import type { Role } from '../../../src/domain/principal.ts';

/**
 * Who changes whose role at a place from what to what, and why not. `other`: a user or a group that has nothing to do
 * with the caller; `group`: a group that the caller is in; `maker`: the user to whom the caller's credential goes back, or
 * a group of that user.
 */
const bindingTable = `
  caller whose from      to        fault
  admin  other none      admin     none
  admin  other viewer    admin     none
  admin  other admin     viewer    none
  admin  other admin     none      none
  admin  self  none      viewer    own_role
  admin  self  none      admin     own_role
  admin  self  viewer    developer own_role
  admin  self  viewer    admin     own_role
  admin  self  developer developer none
  admin  self  admin     viewer    none
  admin  self  admin     none      none
  admin  group none      viewer    own_role
  admin  group viewer    admin     own_role
  admin  group admin     admin     none
  admin  group admin     developer none
  admin  group admin     none      none
  other  other none      viewer    not_admin
  other  other viewer    none      not_admin
  other  other admin     viewer    not_admin
  other  self  none      viewer    not_admin
  other  self  developer viewer    not_admin
  other  self  viewer    admin     not_admin
  other  self  viewer    none      none
  other  self  developer none      none
  other  group viewer    none      not_admin
  other  group admin     viewer    not_admin
  other  group none      viewer    not_admin
  admin  maker none      viewer    delegator
  admin  maker viewer    admin     delegator
  admin  maker admin     viewer    none
  admin  maker admin     none      none
  other  maker viewer    none      not_admin
`;

const rows = bindingTable
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.trim().split(/\s+/));

describe('changes of roles by place', () => {
  test.each(rows)('a caller (%s) changes the role of %s from %s to %s: %s', (...row) => {
    const [caller, whose, from, to, fault] = row;
    const roleOf = (text: string | undefined): Role | null => (text === 'none' ? null : (text as Role));
    const change = {
      byAdmin: caller === 'admin',
      isSelf: whose === 'self',
      isOwn: whose === 'self' || whose === 'group',
      isOfDelegator: whose === 'maker',
      from: roleOf(from),
      to: roleOf(to),
    };
    expect(roleBindingChangeError(change) ?? 'none').toBe(fault);
  });
});
