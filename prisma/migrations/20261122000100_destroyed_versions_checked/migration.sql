-- Side by side: AT_ValidateConstraint secret_version.secret_version_content: it looks at every row and keeps nobody from writing
-- Side by side: INDEX secret_version_destroyed_idx on secret_version: writers wait while it is built, once through the table; it holds no row yet

-- What schema.prisma cannot say.

-- In a migration of its own, without the lock that keeps readers out: this one looks at every row.
ALTER TABLE "secret_version" VALIDATE CONSTRAINT "secret_version_content";

-- The few versions that a read of the past has to look out for.
CREATE INDEX "secret_version_destroyed_idx" ON "secret_version"("secret_id") WHERE "destroyed_at" IS NOT NULL;
