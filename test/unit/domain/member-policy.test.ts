import { describe, expect, test } from '@jest/globals';
import { memberChangeError } from '../../../src/domain/role-changes.ts';
import type { Role } from '../../../src/domain/principal.ts';

/**
 * Who changes whose membership from what to what, with how many other owners, and why not. `maker`: that of the user to whom
 * the caller's credential goes back.
 */
const memberTable = `
  by        whose other-owners from      to        fault
  owner     other 1            none      owner     none
  owner     other 1            owner     none      none
  owner     self  1            owner     none      none
  owner     self  0            owner     none      last_owner
  owner     self  0            owner     admin     last_owner
  owner     self  0            owner     owner     none
  owner     other 0            viewer    admin     none
  admin     other 1            none      admin     none
  admin     other 1            viewer    none      none
  admin     other 1            none      owner     owner_only
  admin     other 1            owner     viewer    owner_only
  admin     other 1            owner     none      owner_only
  admin     self  1            admin     owner     owner_only
  admin     self  1            admin     none      none
  admin     self  1            admin     viewer    none
  admin     self  1            none      viewer    own_role
  admin     self  1            viewer    admin     own_role
  admin     self  1            viewer    viewer    none
  developer self  1            developer none      none
  developer self  1            developer admin     not_admin
  developer other 1            viewer    none      not_admin
  viewer    self  1            viewer    none      none
  viewer    other 1            none      viewer    not_admin
  admin     maker 1            none      viewer    delegator
  admin     maker 1            viewer    admin     delegator
  admin     maker 1            admin     admin     none
  admin     maker 1            admin     viewer    none
  admin     maker 1            admin     none      none
  owner     maker 1            none      owner     delegator
  admin     maker 1            none      owner     owner_only
  viewer    maker 1            viewer    none      not_admin
`;

const rows = memberTable
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => line.trim().split(/\s+/));

describe('changes of memberships', () => {
  test.each(rows)('%s changes %s (other owners: %s) from %s to %s: %s', (...row) => {
    const [byRole, whose, otherOwners, from, to, fault] = row;
    const roleOf = (text: string | undefined): Role | null => (text === 'none' ? null : (text as Role));
    const change = {
      byRole: byRole as Role,
      isSelf: whose === 'self',
      isDelegator: whose === 'maker',
      from: roleOf(from),
      to: roleOf(to),
      otherOwners: Number(otherOwners),
    };
    expect(memberChangeError(change) ?? 'none').toBe(fault);
  });
});
