import {
  type AlterTableCmd,
  type AlterTableStmt,
  type ColumnDef,
  type Constraint,
  type CreateFunctionStmt,
  type DropStmt,
  type Node,
  parse,
} from 'libpg-query';

/** What a migration does that a server of an older release, which works beside it, may not bear. */
export interface Finding {
  /**
   * `contraction`: takes away what an older server uses, or refuses what it writes. `change`: is right or wrong for
   * reasons that no rule sees.
   */
  readonly kind: 'contraction' | 'change';
  /** Such as `DROP COLUMN secret.note`. */
  readonly what: string;
}

/**
 * Reads a migration with PostgreSQL's own parser and reports everything in it that does not merely add. What it makes
 * itself no older server knows, so with that it may do as it likes. Statements that are not known here count as changes.
 */
export async function migrationFindings(sql: string): Promise<Finding[]> {
  const { stmts = [] } = await parse(sql);
  const made: Made = { tables: new Set(), columns: new Set() };
  return stmts.flatMap(({ stmt }) => (stmt === undefined ? [] : statementFindings(stmt, made)));
}

/** What this migration has made so far. */
interface Made {
  readonly tables: Set<string>;
  /** `table.column` of those that an older server leaves null. */
  readonly columns: Set<string>;
}

type Kinds<N> = N extends unknown ? keyof N : never;
type Kind = Kinds<Node>;

const harmless: readonly Kind[] = [
  'CreateEnumStmt',
  'CreateSeqStmt',
  'CompositeTypeStmt',
  'CreateDomainStmt',
  'CommentStmt',
];
const harmlessCommands: readonly AlterTableCmd['subtype'][] = ['AT_SetStatistics', 'AT_SetStorage', 'AT_SetRelOptions'];

function contraction(what: string): Finding {
  return { kind: 'contraction', what };
}

function change(what: string): Finding {
  return { kind: 'change', what };
}

function statementFindings(stmt: Node, made: Made): Finding[] {
  if ('CreateStmt' in stmt) return createFindings(stmt.CreateStmt, made);
  if ('AlterTableStmt' in stmt) return alterFindings(stmt.AlterTableStmt, made);
  if ('IndexStmt' in stmt) return indexFindings(stmt.IndexStmt, made);
  if ('CreateTrigStmt' in stmt) {
    const { trigname, relation } = stmt.CreateTrigStmt;
    return made.tables.has(relation?.relname ?? '') ? [] : [change(`TRIGGER ${trigname} on ${relation?.relname}`)];
  }
  return 'DropStmt' in stmt ? dropFindings(stmt.DropStmt) : otherFindings(stmt);
}

function otherFindings(stmt: Node): Finding[] {
  if ('RenameStmt' in stmt) {
    const { renameType = '', relation, subname } = stmt.RenameStmt;
    return [contraction(dense(['RENAME', typeName(renameType), dotted(relation?.relname, subname)]))];
  }
  if ('AlterEnumStmt' in stmt) {
    const { typeName: type, oldVal, newVal } = stmt.AlterEnumStmt;
    const value = `VALUE ${oldVal ?? newVal} of ${lastName(type)}`;
    return [oldVal === undefined ? change(`ADD ${value}`) : contraction(`RENAME ${value}`)];
  }
  return 'CreateFunctionStmt' in stmt ? functionFindings(stmt.CreateFunctionStmt) : unknownFindings(stmt);
}

function functionFindings({ replace, funcname }: CreateFunctionStmt): Finding[] {
  return replace === true ? [change(`REPLACE FUNCTION ${lastName(funcname)}`)] : [];
}

function unknownFindings(stmt: Node): Finding[] {
  const [kind = ''] = Object.keys(stmt);
  return (harmless as readonly string[]).includes(kind) ? [] : [change(kind.replace(/Stmt$/, '').toUpperCase())];
}

function createFindings(
  { relation, tableElts = [] }: { relation?: Relation; tableElts?: Node[] },
  made: Made,
): Finding[] {
  const table = relation?.relname ?? '';
  made.tables.add(table);
  return tableElts.flatMap((element) => {
    if ('Constraint' in element) return deletionFindings(table, element.Constraint, made);
    if (!('ColumnDef' in element)) return [];
    return constraintsOf(element.ColumnDef).flatMap((constraint) => deletionFindings(table, constraint, made));
  });
}

interface Relation {
  readonly relname?: string;
}

/** A row that an older server knows nothing of must not keep it from deleting what the row refers to. */
function deletionFindings(
  table: string,
  { contype, conname, pktable, fk_del_action: action }: Constraint,
  made: Made,
): Finding[] {
  const target = pktable?.relname ?? '';
  if (contype !== 'CONSTR_FOREIGN' || made.tables.has(target)) return [];
  const letsGo = action === 'c' || action === 'n' || action === 'd';
  return letsGo ? [] : [change(`FOREIGN KEY ${conname ?? `of ${table}`} keeps rows of ${target}`)];
}

function alterFindings({ relation, cmds = [], objtype }: AlterTableStmt, made: Made): Finding[] {
  const table = relation?.relname ?? '';
  if (objtype !== 'OBJECT_TABLE') return [change(`ALTER ${typeName(objtype ?? '')} ${table}`)];
  return cmds.flatMap((node) => {
    if (!('AlterTableCmd' in node)) return [];
    const command = node.AlterTableCmd;
    const constraint = command.def !== undefined && 'Constraint' in command.def ? command.def.Constraint : undefined;
    if (!made.tables.has(table)) return commandFindings(table, command, made);
    return constraint === undefined ? [] : deletionFindings(table, constraint, made);
  });
}

const commandWords: Readonly<Partial<Record<NonNullable<AlterTableCmd['subtype']>, Finding>>> = {
  AT_DropColumn: contraction('DROP COLUMN'),
  AT_AlterColumnType: contraction('ALTER TYPE'),
  AT_SetNotNull: contraction('SET NOT NULL'),
  AT_DropNotNull: change('DROP NOT NULL'),
  AT_DropConstraint: contraction('DROP CONSTRAINT'),
};

function commandFindings(table: string, command: AlterTableCmd, made: Made): Finding[] {
  const { subtype, name, def } = command;
  if (def !== undefined && 'ColumnDef' in def && subtype === 'AT_AddColumn') {
    return columnFindings(table, def.ColumnDef, made);
  }
  if (def !== undefined && 'Constraint' in def) return constraintFindings(table, def.Constraint, made);
  return plainFindings(command, dotted(table, name));
}

function plainFindings({ subtype, def }: AlterTableCmd, place: string): Finding[] {
  if (subtype === 'AT_ColumnDefault') {
    return [def === undefined ? contraction(`DROP DEFAULT ${place}`) : change(`SET DEFAULT ${place}`)];
  }
  if (subtype === undefined || harmlessCommands.includes(subtype)) return [];
  const { kind, what } = commandWords[subtype] ?? change(subtype);
  return [{ kind, what: `${what} ${place}` }];
}

function columnFindings(table: string, definition: ColumnDef, made: Made): Finding[] {
  const column = `${table}.${definition.colname}`;
  const constraints = constraintsOf(definition);
  const has = (...types: Constraint['contype'][]): boolean =>
    constraints.some(({ contype }) => types.includes(contype));
  const isFilled = has('CONSTR_DEFAULT', 'CONSTR_IDENTITY', 'CONSTR_GENERATED');
  if (has('CONSTR_NOTNULL', 'CONSTR_PRIMARY') && !isFilled)
    return [contraction(`ADD COLUMN ${column} NOT NULL without a default`)];
  if (!isFilled) made.columns.add(column);
  return constraints.flatMap((constraint) => {
    const keys = { ...constraint, conname: constraint.conname ?? `of ${column}` };
    if (constraint.contype === 'CONSTR_FOREIGN')
      return constraintFindings(table, { ...keys, fk_attrs: [named(definition)] }, made);
    if (constraint.contype === 'CONSTR_UNIQUE')
      return constraintFindings(table, { ...keys, keys: [named(definition)] }, made);
    return constraintFindings(table, keys, made);
  });
}

function named({ colname = '' }: ColumnDef): Node {
  return { String: { sval: colname } };
}

function constraintsOf({ constraints = [] }: ColumnDef): Constraint[] {
  return constraints.flatMap((node) => ('Constraint' in node ? [node.Constraint] : []));
}

const refusing = {
  CONSTR_CHECK: 'CHECK',
  CONSTR_PRIMARY: 'PRIMARY KEY',
  CONSTR_UNIQUE: 'UNIQUE',
  CONSTR_EXCLUSION: 'EXCLUDE',
  CONSTR_FOREIGN: 'FOREIGN KEY',
  CONSTR_NOTNULL: undefined,
} as const;

/**
 * A constraint on a table that an older server writes; columns which that leaves null are none of its business. A CHECK that
 * asks for one of these beside others may say the same as before for rows with null: that takes a reason.
 */
function constraintFindings(table: string, constraint: Constraint, made: Made): Finding[] {
  const { contype, conname, raw_expr: expression } = constraint;
  const word = (refusing as Readonly<Record<string, string | undefined>>)[contype ?? ''];
  if (word === undefined) return [];
  const columns = contype === 'CONSTR_CHECK' ? columnsIn(expression) : keysOf(constraint);
  const what = dense([word, conname, 'on', table]);
  if (contype === 'CONSTR_CHECK') {
    const asksForMade = columns.some((column) => areLeftNull(table, [column], made));
    return [asksForMade ? change(what) : contraction(what)];
  }
  const isHarmless = areLeftNull(table, columns, made) && constraint.nulls_not_distinct !== true;
  return isHarmless ? deletionFindings(table, constraint, made) : [contraction(what)];
}

function keysOf({ keys = [], fk_attrs: foreign = [] }: Constraint): string[] {
  return [...keys, ...foreign].map(textOf);
}

function areLeftNull(table: string, columns: readonly string[], { columns: made }: Made): boolean {
  return columns.length > 0 && columns.every((column) => made.has(`${table}.${column}`));
}

function dense(words: readonly (string | undefined)[]): string {
  return words.filter((word) => word !== undefined && word !== '').join(' ');
}

interface Index {
  readonly idxname?: string;
  readonly relation?: Relation;
  readonly unique?: boolean;
  readonly nulls_not_distinct?: boolean;
  readonly indexParams?: Node[];
}

function indexFindings({ idxname, relation, unique, indexParams = [], ...index }: Index, made: Made): Finding[] {
  const table = relation?.relname ?? '';
  if (made.tables.has(table)) return [];
  // No client can write to the table while it is built.
  if (unique !== true) return [change(`INDEX ${idxname} on ${table}`)];
  // A row with null in one of the columns equals no other row.
  const areNull = indexParams.some((column) => areLeftNull(table, [textOf(column)], made));
  const what = `UNIQUE INDEX ${idxname} on ${table}`;
  return [areNull && index.nulls_not_distinct !== true ? change(what) : contraction(what)];
}

function dropFindings({ removeType = 'OBJECT_TABLE', objects = [] }: DropStmt): Finding[] {
  const isHarder = removeType !== 'OBJECT_INDEX' && removeType !== 'OBJECT_TRIGGER';
  return objects.map((object) => {
    const what = `DROP ${typeName(removeType)} ${textOf(object)}`;
    return isHarder ? contraction(what) : change(what);
  });
}

/** OBJECT_TABLE as TABLE. */
function typeName(type: string): string {
  return type.replace(/^OBJECT_/, '');
}

function dotted(...names: readonly (string | undefined)[]): string {
  return names.filter((name) => name !== undefined && name !== '').join('.');
}

function lastName(names: readonly Node[] | undefined): string {
  return names?.map(textOf).at(-1) ?? '';
}

/** The name that a node is, or that the names in it make. */
function textOf(node: Node): string {
  if ('String' in node) return node.String.sval ?? '';
  if ('List' in node) return (node.List.items ?? []).map(textOf).join('.');
  if ('TypeName' in node) return lastName(node.TypeName.names);
  if ('IndexElem' in node) return node.IndexElem.name ?? '';
  if ('ObjectWithArgs' in node) return lastName(node.ObjectWithArgs.objname);
  return '';
}

/** The columns that an expression names, however deep. */
function columnsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('ColumnRef' in value) return [lastName((value.ColumnRef as { fields?: Node[] }).fields)];
  return Object.values(value).flatMap(columnsIn);
}
