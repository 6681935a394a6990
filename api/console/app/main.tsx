import { render } from 'preact';
import { App } from './app.tsx';
import './styles/base.css';
import './styles/frame.css';
import './styles/parts.css';
import './styles/list.css';
import './styles/transcript.css';

render(<App />, document.getElementById('app')!);
