// The worker that all pages of a browser share.

import {Hub} from "./hub.js";

const hub = new Hub();
self.onconnect = event => {
  const [port] = event.ports;
  // The first message shows the page that the worker runs.
  port.postMessage({name: "hello"});
  const receive = hub.join(message => port.postMessage(message));
  port.onmessage = event => receive(event.data);
};
