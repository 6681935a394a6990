import { Component, type ComponentType, type FunctionComponent } from 'preact';

/** A component that is rendered again only if one of its properties changed: a list of hundreds then costs what changed in it. */
export function steady<Props extends object>(Of: FunctionComponent<Props>): ComponentType<Props> {
  return class extends Component<Props> {
    override shouldComponentUpdate(next: Readonly<Props>): boolean {
      const before: Readonly<Props> = this.props;
      for (const name in next) if (next[name] !== before[name]) return true;
      return false;
    }
    override render(props: Readonly<Props>) {
      return <Of {...(props as Props)} />;
    }
  };
}
