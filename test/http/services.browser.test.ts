import { servicesOverFetch } from "./services-fetch.ts";

servicesOverFetch();
