import { useRetried } from '../use.ts';
import { Field, Form } from './basics.tsx';

interface Props {
  /** URL to which the provider returns, encoded. */
  back: string;
  /** The provider's pages are opened beside this one. */
  beside?: boolean;
  enter: (key: string) => Promise<unknown>;
}

/** The ways to sign in: with an OpenID Connect provider, if there is one, or with an API key. */
export function Ways({ back, beside, enter }: Props) {
  const oidc = useRetried<{ oidc: { name: string } | null }>('/options')?.oidc;
  return (
    <>
      {oidc && (
        <p>
          <a class="button main" href={`/v1/app/oidc/start?return=${back}`} target={beside ? '_blank' : undefined}>
            Sign in with {oidc.name}
          </a>
        </p>
      )}
      <Form label="Sign in" kind="" send={({ key = '' }) => enter(key.trim())}>
        <Field label="API key">
          <input name="key" type="password" required autocomplete="current-password" placeholder="lh_…" />
        </Field>
      </Form>
    </>
  );
}
