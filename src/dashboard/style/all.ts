/** The styles, in the order in which they apply. */

import './tokens.css';
import './base.css';
import './parts.css';
import './form.css';
import './lists.css';
import './pages.css';
import './overview.css';
import './drawer.css';
import './environment.css';
import './history.css';
import './access.css';
import './timeline.css';
import './compare.css';
import './restores.css';
import './consumers.css';
