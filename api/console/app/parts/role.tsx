import { Field } from './basics.tsx';

const ROLES = ['user', 'owner'];

/** The role of a new member, in a form. */
export function RoleField() {
  return (
    <Field label="Role">
      <select name="role">
        <Roles />
      </select>
    </Field>
  );
}

/** Options of a select for roles. */
export function Roles() {
  return ROLES.map((role) => (
    <option key={role} value={role}>
      {role}
    </option>
  ));
}
