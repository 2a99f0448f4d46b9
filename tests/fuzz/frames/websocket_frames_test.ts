/** The websocket protocol under damaged frames. */
import { testFrames } from "./frames_for_test.ts";

testFrames("websocket");
